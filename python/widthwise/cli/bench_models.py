"""Convolutions of models that people know: shapes and how often each stands in the network."""

from __future__ import annotations

from typing import NamedTuple


class Layer(NamedTuple):
    """A convolution of square images and kernels."""

    name: str
    times: int  # that it stands in the network
    channels: int
    shrunk: int  # the image is the network's, divided by so much
    filters: int
    kernel: int
    stride: int

    @property
    def padding(self) -> int:
        return self.kernel // 2

    def image(self, network: int) -> int:
        return -(-network // self.shrunk)

    def output(self, network: int) -> int:
        return (self.image(network) + 2 * self.padding - self.kernel) // self.stride + 1

    def products(self, network: int) -> int:
        """Of one image."""
        return self.output(network) ** 2 * self.filters * self.channels * self.kernel**2


# torchvision's: of a bottleneck that strides the 3 x 3 does it (ResNet-50 v1.5).
RESNET50 = [
    Layer("conv1", 1, 3, 1, 64, 7, 2),
    Layer("layer1 1x1 in", 1, 64, 4, 64, 1, 1),
    Layer("layer1 3x3", 3, 64, 4, 64, 3, 1),
    Layer("layer1 1x1 out, shortcut", 4, 64, 4, 256, 1, 1),
    Layer("layer1 1x1", 2, 256, 4, 64, 1, 1),
    Layer("layer2 1x1 in", 1, 256, 4, 128, 1, 1),
    Layer("layer2 3x3 / 2", 1, 128, 4, 128, 3, 2),
    Layer("layer2 1x1 out", 4, 128, 8, 512, 1, 1),
    Layer("layer2 shortcut / 2", 1, 256, 4, 512, 1, 2),
    Layer("layer2 1x1", 3, 512, 8, 128, 1, 1),
    Layer("layer2 3x3", 3, 128, 8, 128, 3, 1),
    Layer("layer3 1x1 in", 1, 512, 8, 256, 1, 1),
    Layer("layer3 3x3 / 2", 1, 256, 8, 256, 3, 2),
    Layer("layer3 1x1 out", 6, 256, 16, 1024, 1, 1),
    Layer("layer3 shortcut / 2", 1, 512, 8, 1024, 1, 2),
    Layer("layer3 1x1", 5, 1024, 16, 256, 1, 1),
    Layer("layer3 3x3", 5, 256, 16, 256, 3, 1),
    Layer("layer4 1x1 in", 1, 1024, 16, 512, 1, 1),
    Layer("layer4 3x3 / 2", 1, 512, 16, 512, 3, 2),
    Layer("layer4 1x1 out", 3, 512, 32, 2048, 1, 1),
    Layer("layer4 shortcut / 2", 1, 1024, 16, 2048, 1, 2),
    Layer("layer4 1x1", 2, 2048, 32, 512, 1, 1),
    Layer("layer4 3x3", 2, 512, 32, 512, 3, 1),
]
RESNET18 = [
    Layer("conv1", 1, 3, 1, 64, 7, 2),
    Layer("layer1 3x3", 4, 64, 4, 64, 3, 1),
    Layer("layer2 3x3 / 2", 1, 64, 4, 128, 3, 2),
    Layer("layer2 shortcut / 2", 1, 64, 4, 128, 1, 2),
    Layer("layer2 3x3", 3, 128, 8, 128, 3, 1),
    Layer("layer3 3x3 / 2", 1, 128, 8, 256, 3, 2),
    Layer("layer3 shortcut / 2", 1, 128, 8, 256, 1, 2),
    Layer("layer3 3x3", 3, 256, 16, 256, 3, 1),
    Layer("layer4 3x3 / 2", 1, 256, 16, 512, 3, 2),
    Layer("layer4 shortcut / 2", 1, 256, 16, 512, 1, 2),
    Layer("layer4 3x3", 3, 512, 32, 512, 3, 1),
]
VGG16 = [
    Layer("conv1_1", 1, 3, 1, 64, 3, 1),
    Layer("conv1_2", 1, 64, 1, 64, 3, 1),
    Layer("conv2_1", 1, 64, 2, 128, 3, 1),
    Layer("conv2_2", 1, 128, 2, 128, 3, 1),
    Layer("conv3_1", 1, 128, 4, 256, 3, 1),
    Layer("conv3_2, conv3_3", 2, 256, 4, 256, 3, 1),
    Layer("conv4_1", 1, 256, 8, 512, 3, 1),
    Layer("conv4_2, conv4_3", 2, 512, 8, 512, 3, 1),
    Layer("conv5", 3, 512, 16, 512, 3, 1),
]
MODELS = {"resnet18": RESNET18, "resnet50": RESNET50, "vgg16": VGG16}
