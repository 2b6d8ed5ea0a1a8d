"""A small model, optimizers and their steps, for tests of what is rounded around these."""

from torch_here import torch, wt

OPTIMIZERS = {
    "SGD": {"lr": 0.1, "momentum": 0.9},
    "Adam": {"lr": 0.01},
    "AdamW": {"lr": 0.01, "amsgrad": True},
    "RMSprop": {"lr": 0.01, "momentum": 0.5},
    "Adagrad": {"lr": 0.05},
    "Adadelta": {},
    "Adafactor": {"lr": 0.01},
    "NAdam": {"lr": 0.01},
    "Rprop": {"lr": 0.01},
    "ASGD": {"lr": 0.01},
}
FORMATS = {"weight": "e5m4", "grad": "e5m3", "momentum": "e6m7", "accumulator": "e6m12"}


def model(seed=0):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))


def made(name, parameters, **more):
    return getattr(torch.optim, name)(parameters, **OPTIMIZERS[name], **more)


def backward(net, seed=1):
    x = torch.randn(5, 6, generator=torch.Generator().manual_seed(seed))
    net.zero_grad()
    loss = net(x).pow(2).sum()
    loss.backward()
    return loss


def train(net, opt, steps, schedule=None, first=1):
    for step in range(steps):
        backward(net, first + step)
        opt.step()
        if schedule is not None:
            schedule.step()


def has(format, x):
    """Whether all numbers of x are the format's."""
    return torch.equal(wt.quantize(x, format, clamp=False), x)
