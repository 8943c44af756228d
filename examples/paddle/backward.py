# The documented example of paddle.autograd.backward.
import symgrad.compat.paddle as paddle

x = paddle.to_tensor([[1, 2], [3, 4]], dtype="float32", stop_gradient=False)
y = paddle.to_tensor([[3, 2], [3, 4]], dtype="float32")

grad_tensor1 = paddle.to_tensor([[1, 2], [2, 3]], dtype="float32")
grad_tensor2 = paddle.to_tensor([[1, 1], [1, 1]], dtype="float32")

z1 = paddle.matmul(x, y)
z2 = paddle.matmul(x, y)

paddle.autograd.backward([z1, z2], [grad_tensor1, grad_tensor2], True)
print(x.grad.tolist())

x.clear_grad()
paddle.autograd.backward([z1, z2], [grad_tensor1, None], True)
print(x.grad.tolist())

x.clear_grad()
paddle.autograd.backward([z1, z2])
print(x.grad.tolist())

# prints: [[12.0, 18.0], [17.0, 25.0]]
# prints: [[12.0, 18.0], [17.0, 25.0]]
# prints: [[10.0, 14.0], [10.0, 14.0]]
