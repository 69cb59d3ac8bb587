// The collapse-proof head behind somebody's own network: three lines.

#include <cplearn/nn/code_head.h>
#include <torch/torch.h>

#include <iostream>

int main() {
  torch::nn::Sequential net(torch::nn::Linear(20, 64), torch::nn::ReLU(),
                            torch::nn::Linear(64, 64));
  const torch::Tensor x = torch::randn({256, 20});
  const auto view = [&] { return x + 0.1 * torch::randn_like(x); };

  cpl::CodeHead head(/*features=*/64, cpl::CodeHeadOptions());  // 1
  torch::optim::Adam adam({net->parameters(), head->parameters()}, torch::optim::AdamOptions(1e-3));
  for (int step = 0; step < 100; ++step) {
    const cpl::CodeLoss loss = head->loss(net->forward(view()), net->forward(view()));  // 2
    adam.zero_grad();
    loss.total.backward();  // 3
    adam.step();
    if (step % 20 == 0)
      std::cout << "loss " << loss.total.item<float>() << "  invariance "
                << loss.invariance.item<float>() << "  prior " << loss.prior.item<float>() << "\n";
  }
  const auto codes = std::get<0>(at::_unique(head->assign(net->forward(x)).code));
  std::cout << "codes in use: " << codes.size(0) << " of " << head->options().codes << " for "
            << x.size(0) << " rows\n";
}
