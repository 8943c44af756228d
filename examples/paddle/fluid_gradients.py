# The documented example of fluid.gradients.
import symgrad.compat.paddle.fluid as fluid

x = fluid.layers.data(name="x", shape=[2, 8, 8], dtype="float32")
x.stop_gradient = False
y = fluid.layers.conv2d(x, 4, 1, bias_attr=False)
y = fluid.layers.relu(y)
y = fluid.layers.conv2d(y, 4, 1, bias_attr=False)
y = fluid.layers.relu(y)
z = fluid.gradients([y], x)
print(z)

# prints: [var x@GRAD : shape(-1, 2, 8, 8), dtype=float32, stop_gradient=False]
