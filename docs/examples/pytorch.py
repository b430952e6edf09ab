# SPDX-License-Identifier: LGPL-2.1-or-later
import torch
from safetensors.torch import save_file

X = torch.tensor([[1.0, 2], [2, 1], [3, 4], [4, 3]])
y = torch.tensor([[5.0], [4], [11], [10]])
layer = torch.nn.Linear(2, 1)
optimizer = torch.optim.LBFGS(layer.parameters(), max_iter=200, line_search_fn='strong_wolfe')


def closure():
    optimizer.zero_grad()
    loss = ((layer(X) - y) ** 2).mean()
    loss.backward()
    return loss


optimizer.step(closure)
print(f'{layer(torch.tensor([[5.0, 6]])).item():.2f}')
save_file(layer.state_dict(), 'layer.safetensors')
