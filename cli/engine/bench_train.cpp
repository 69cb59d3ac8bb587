// cplearn bench train: whole training steps with augmentation, beside what anybody would write with
// libtorch, and beside the convolutions and matrix products of each.

#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <torch/torch.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "cli/engine/bench.h"
#include "cplearn/base/table.h"
#include "cplearn/nn/code_head.h"
#include "cplearn/train/trainer.h"

namespace cpl::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Seconds this thread spends in convolutions and matrix products while the timer lives, from
// libtorch's own instrumentation. (Backward runs on this thread, too; what its helpers do in
// parallel is inside the same spans.)
class ProductTimer {
 public:
  ProductTimer() {
    seconds_ = 0;
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback(&ProductTimer::begin, &ProductTimer::end)
            .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
  }
  ~ProductTimer() { at::removeCallback(handle_); }
  ProductTimer(const ProductTimer&) = delete;
  ProductTimer& operator=(const ProductTimer&) = delete;

  double seconds() const { return seconds_; }

 private:
  struct Span : at::ObserverContext {
    Clock::time_point start = Clock::now();
  };

  static bool is_product(const std::string& name) {
    for (const char* known : {"aten::conv", "aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm",
                              "aten::linear", "aten::matmul", "aten::mkldnn", "cplearn::conv"}) {
      if (name.rfind(known, 0) == 0) return true;
    }
    return name.find("Winograd") != std::string::npos;
  }
  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
    if (!is_product(function.name()) || depth_++ > 0) return nullptr;  // only the outermost
    return std::make_unique<Span>();
  }
  static void end(const at::RecordFunction& function, at::ObserverContext* context) {
    if (is_product(function.name())) --depth_;
    if (context)
      seconds_ +=
          std::chrono::duration<double>(Clock::now() - static_cast<Span*>(context)->start).count();
  }

  at::CallbackHandle handle_;
  static thread_local int depth_;
  static double seconds_;
};
thread_local int ProductTimer::depth_ = 0;
double ProductTimer::seconds_ = 0;

// A run directory that disappears with it.
struct TemporaryRun {
  std::string path;
  TemporaryRun() {
    std::string name = std::filesystem::temp_directory_path() / "cplearn-bench-XXXXXX";
    CPL_CHECK(::mkdtemp(name.data()) != nullptr, "cannot make a directory for the bench in ", name);
    path = name;
  }
  ~TemporaryRun() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

// Shortest mean over `window` steps in a row: long enough that batches made ahead do not flatter.
double best_window(const std::vector<double>& seconds, std::size_t window) {
  double best = 1e300;
  for (std::size_t i = 0; i + window <= seconds.size(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < window; ++j) sum += seconds[i + j];
    best = std::min(best, sum / static_cast<double>(window));
  }
  return best;
}

struct Speed {
  double seconds = 0;          // per step
  double product_share = 0;    // of a step, in convolutions and matrix products
  double product_seconds = 0;  // per step
};

template <class Step>
Speed measure(int steps, std::size_t window, Step step) {
  for (int i = 0; i < 5; ++i) step();  // first allocations, and the loader's head start
  std::vector<double> seconds;
  for (int i = 0; i < steps; ++i) seconds.push_back(best_seconds(1, step));
  Speed speed;
  speed.seconds = best_window(seconds, window);
  ProductTimer timer;
  const double timed = best_seconds(1, [&] {
    for (int i = 0; i < 5; ++i) step();
  });
  speed.product_share = timer.seconds() / timed;
  speed.product_seconds = speed.product_share * speed.seconds;
  return speed;
}

// Ours, as `cplearn train` runs it.
Speed time_ours(const BenchTrainArguments& o, PartTimes& parts) {
  const TemporaryRun run;
  TrainOptions train = o.train;
  train.epochs = 1;
  train.data = str("shapes:", train.batch * (o.steps + 16));
  Trainer trainer(run.path + "/run", train, SessionOptions());
  trainer.start();
  const Speed speed = measure(o.steps, 10, [&] { trainer.step(); });
  parts = trainer.status().times;
  return speed;
}

// The same network without our identities, the loss as ten n x c tensors, torch::optim::Adam; on
// pixels that are there already.
Speed time_plain(const BenchTrainArguments& o) {
  torch::manual_seed(o.train.seed);
  BackboneOptions options = resolve_backbone(o.train);
  options.plain = true;
  const auto net = make_backbone(o.train.backbone, options);
  CodeHeadOptions head_options = resolve_method(o.train).head;
  CodeHead head(net->features(), head_options);
  const Dictionary& codes = head->dictionary();
  const at::Tensor w = torch::tensor(codes.dense()).view({codes.width(), codes.codes()});
  std::vector<at::Tensor> parameters = net->parameters();
  for (const at::Tensor& p : head->parameters()) parameters.push_back(p);
  torch::optim::Adam adam(parameters, torch::optim::AdamOptions(1e-4));
  const int size = resolve_image_size(o.train);
  const at::Tensor images = torch::randn({2 * o.train.batch, 3, size, size});
  const CodeLossOptions loss{
      head->scale(), head_options.beta, head_options.symmetric, head_options.prior, {}};
  const EncodeOptions encoding{1, resolve_bf16(o.train)};
  return measure(std::max(3, o.steps / 4), 3, [&] {
    const std::vector<at::Tensor> z = encode(*net, images, encoding).chunk(2);
    const CodeLoss value = code_loss_plain(head->embed(z[0]), head->embed(z[1]), w, loss);
    adam.zero_grad();
    value.total.backward();
    adam.step();
  });
}

}  // namespace

int run_bench_train(const BenchTrainArguments& o, const Common& common) {
  const auto batch = static_cast<double>(o.train.batch);
  PartTimes parts;
  const Speed ours = time_ours(o, parts);
  Json result = {{"backbone", o.train.backbone},
                 {"width", o.train.backbone_options.width},
                 {"codes", o.train.method_options.head.codes},
                 {"batch", o.train.batch},
                 {"precision", resolve_bf16(o.train) ? "bf16" : "fp32"},
                 {"threads", at::get_num_threads()},
                 {"images_per_second", batch / ours.seconds}};
  TextTable table({"training step", "images/s", "ms", "convolutions and products"});
  const auto row = [&](const char* name, const Speed& speed) {
    table.add({name, readable(batch / speed.seconds), readable(1e3 * speed.seconds),
               str(readable(100 * speed.product_share), " %")});
  };
  row("cplearn, with augmentation", ours);
  if (o.plain) {
    const Speed plain = time_plain(o);
    row("straightforward graph, no augmentation", plain);
    table.add({"  its convolutions and products alone", readable(batch / plain.product_seconds),
               readable(1e3 * plain.product_seconds), ""});
    result["plain_images_per_second"] = batch / plain.seconds;
    result["plain_products_images_per_second"] = batch / plain.product_seconds;
    result["ratio"] = plain.seconds / ours.seconds;
  }
  result["convolution_share"] = ours.product_share;
  TextTable shares({"part of our step", "share"});
  const std::pair<const char*, double> each[] = {
      {"data", parts.data},         {"forward", parts.forward},     {"head", parts.head},
      {"backward", parts.backward}, {"optimizer", parts.optimizer}, {"other", parts.other}};
  for (const auto& [name, seconds] : each) {
    shares.add({name, str(readable(100 * seconds / parts.sum()), " %")});
    result["parts"][name] = seconds / parts.sum();
  }
  common.say() << o.train.backbone << ", " << o.train.method_options.head.codes << " codes, batch "
               << o.train.batch << " x " << o.train.augment.views << " views, "
               << at::get_num_threads() << " threads, " << result["precision"].get<std::string>()
               << "\n\n"
               << table.str() << "\n"
               << shares.str();
  common.result(result);
  return kSuccess;
}

}  // namespace cpl::cli
