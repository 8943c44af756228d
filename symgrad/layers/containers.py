"""Layers that contain layers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from symgrad.layers.layer import Layer, TensorLayer


class Sequential(TensorLayer):
    """Layers applied in sequence, given as layers or pairs (name, layer).

    >>> from symgrad.layers import Linear, ReLU
    >>> len(Sequential(Linear(2, 3), ReLU(), Linear(3, 1)).parameters())
    4
    """

    def __init__(self, *layers: Any) -> None:
        super().__init__("sequential")
        members = layers[0] if len(layers) == 1 and isinstance(layers[0], list) else layers
        for place, layer in enumerate(members):
            name, inner = layer if isinstance(layer, tuple | list) else (str(place), layer)
            self.add_sublayer(str(name), inner)

    def forward(self, input: Any) -> Any:
        """Compute the layer's result."""
        for layer in self.children():
            input = layer(input)
        return input

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, str):
            return self.own_layers[place]
        selection = list(self.children())[place]
        return Sequential(*selection) if isinstance(selection, list) else selection

    def __len__(self) -> int:
        return len(self.own_layers)

    def __iter__(self) -> Iterator[Layer]:
        return self.children()


class LayerList(Layer):
    """A list of layers."""

    def __init__(self, sublayers: Iterable[Layer] | None = None) -> None:
        super().__init__("layer_list")
        self.extend(sublayers or ())

    def append(self, sublayer: Layer) -> LayerList:
        """Add a layer at the end."""
        self.add_sublayer(str(len(self)), sublayer)
        return self

    def extend(self, sublayers: Iterable[Layer]) -> LayerList:
        """Add layers at the end."""
        for layer in sublayers:
            self.append(layer)
        return self

    def __getitem__(self, place: Any) -> Any:
        selection = list(self.children())[place]
        return LayerList(selection) if isinstance(selection, list) else selection

    def __setitem__(self, place: int, sublayer: Layer) -> None:
        self.own_layers[list(self.own_layers)[place]] = sublayer

    def __len__(self) -> int:
        return len(self.own_layers)

    def __iter__(self) -> Iterator[Layer]:
        return self.children()


class ParameterList(Layer):
    """A list of parameters."""

    def __init__(self, parameters: Iterable[Any] | None = None) -> None:
        super().__init__("parameter_list")
        for parameter in parameters or ():
            self.append(parameter)

    def append(self, parameter: Any) -> ParameterList:
        """Add a parameter at the end."""
        self.add_parameter(str(len(self)), parameter)
        return self

    def __getitem__(self, place: int) -> Any:
        return list(self.own_parameters.values())[place]

    def __len__(self) -> int:
        return len(self.own_parameters)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.own_parameters.values())
