# The documented example of append_backward: a network with an embedding, and six ways to ask for gradients.
import symgrad.compat.paddle as paddle
import symgrad.compat.paddle.nn.functional as F

paddle.enable_static()


def network():
    x = paddle.static.data(name="x", shape=[None, 13], dtype="int64")
    y = paddle.static.data(name="y", shape=[None, 1], dtype="float32")
    x_emb = paddle.static.nn.embedding(x, size=[100, 256])
    y_predict = paddle.static.nn.fc(x=x_emb, size=1, activation=None, name="my_fc")
    loss = F.square_error_cost(input=y_predict, label=y)
    return paddle.mean(loss)


def names(params_grads):
    return [(param.name, grad.name) for param, grad in params_grads]


for ask in (
    lambda loss, weights: paddle.static.append_backward(loss=loss),
    lambda loss, weights: paddle.static.append_backward(loss=loss, parameter_list=weights),
    lambda loss, weights: paddle.static.append_backward(loss=loss, parameter_list=[w.name for w in weights]),
    lambda loss, weights: paddle.static.append_backward(loss=loss, no_grad_set={weights[0]}),
    lambda loss, weights: paddle.static.append_backward(loss=loss, no_grad_set={"my_fc.b_0"}),
    lambda loss, weights: paddle.static.append_backward(loss=loss, parameter_list=weights, no_grad_set={weights[1].name}),
):
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        avg_loss = network()
        all_weights = [param for param in paddle.static.default_main_program().block(0).all_parameters() if "w_" in param.name]
        print(names(ask(avg_loss, all_weights)))

# prints: [('embedding_0.w_0', 'embedding_0.w_0@GRAD'), ('my_fc.w_0', 'my_fc.w_0@GRAD'), ('my_fc.b_0', 'my_fc.b_0@GRAD')]
# prints: [('embedding_0.w_0', 'embedding_0.w_0@GRAD'), ('my_fc.w_0', 'my_fc.w_0@GRAD')]
# prints: [('embedding_0.w_0', 'embedding_0.w_0@GRAD'), ('my_fc.w_0', 'my_fc.w_0@GRAD')]
# prints: [('my_fc.w_0', 'my_fc.w_0@GRAD'), ('my_fc.b_0', 'my_fc.b_0@GRAD')]
# prints: [('embedding_0.w_0', 'embedding_0.w_0@GRAD'), ('my_fc.w_0', 'my_fc.w_0@GRAD')]
# prints: [('embedding_0.w_0', 'embedding_0.w_0@GRAD')]
