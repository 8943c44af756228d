# The documented examples of paddle.grad.
import symgrad.compat.paddle as paddle


def test_dygraph_grad(create_graph):
    x = paddle.ones(shape=[1], dtype="float32")
    x.stop_gradient = False
    y = x * x

    # dx = 2 * x; create_graph=True allows its differentiation
    dx = paddle.grad(outputs=[y], inputs=[x], create_graph=create_graph, retain_graph=True)[0]
    z = y + dx
    z.backward()
    return x.gradient()


print(test_dygraph_grad(create_graph=False))
print(test_dygraph_grad(create_graph=True))


def test_dygraph_grad_outputs(grad_outputs):
    x = paddle.to_tensor(2.0)
    x.stop_gradient = False
    y1 = x * x
    y2 = x * 3
    # with grad_outputs=[u, v] the result is u * dy1/dx + v * dy2/dx
    dx = paddle.grad(outputs=[y1, y2], inputs=[x], grad_outputs=grad_outputs)[0]
    return dx.numpy()


grad_value = paddle.to_tensor(4.0)
print(test_dygraph_grad_outputs(None))
print(test_dygraph_grad_outputs([None, grad_value]))
print(test_dygraph_grad_outputs([grad_value, None]))
grad_y1 = paddle.to_tensor(3.0)
print(test_dygraph_grad_outputs([grad_y1, grad_value]))

# prints: [2.]
# prints: [4.]
# prints: 7.0
# prints: 16.0
# prints: 19.0
# prints: 24.0
