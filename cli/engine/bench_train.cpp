// cplearn bench train: whole training steps with augmentation, beside what anybody would write with
// libtorch, and beside the convolutions and matrix products of each.

#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <torch/torch.h>

#include "cli/engine/bench.h"
#include "cplearn/nn/code_head.h"
#include "cplearn/train/trainer.h"

namespace cpl::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Seconds this thread spends in convolutions, attention and matrix products while the timer lives,
// from libtorch's own instrumentation and ours (RECORD_FUNCTION). One inside another is counted
// once. (Backward runs on this thread, too; what its helpers do in parallel is inside the same
// spans.)
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
    for (const char* known :
         {"aten::conv", "aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::linear",
          "aten::matmul", "aten::mkldnn", "aten::scaled_dot_product", "aten::_scaled_dot_product",
          "cplearn::convolution", "cplearn::linear", "cplearn::product"}) {
      if (name.rfind(known, 0) == 0) return true;
    }
    return false;
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

struct Speed {
  Timing timing;
  double seconds = 0;          // per step, the best
  double product_share = 0;    // of a step, in convolutions and matrix products
  double product_seconds = 0;  // per step
};

// `step` returns whether it did anything. The best is that of `window` steps in a row: batches made
// ahead must not flatter.
template <class Step>
Speed measure_steps(int steps, int window, Step step) {
  constexpr int kProfiled = 5;
  StepClock clock, profiled;
  clock.warm_up(5, step);  // first allocations, and the loader's head start
  clock.run(steps, step);
  Speed speed;
  speed.timing = clock.timing();
  speed.seconds = clock.best_window(window);
  ProductTimer timer;
  profiled.run(kProfiled, 0, step);
  speed.product_share = timer.seconds() / (kProfiled * profiled.best_window(kProfiled));
  speed.product_seconds = speed.product_share * speed.seconds;
  return speed;
}

// Ours, as `cplearn train` runs it.
Speed time_ours(const BenchTrainArguments& o, PartTimes& parts) {
  const TemporaryFolder folder;
  TrainOptions train = o.train;
  // Far more steps than the clock can ask for: it asks for so many, or for half a second of them.
  train.epochs = 1000;
  train.data = str("shapes:", train.batch * (o.steps + 16));
  Trainer trainer(folder.path + "/run", train, SessionOptions());
  trainer.start();
  const Speed speed = measure_steps(o.steps, 10, [&] { return trainer.step(); });
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
  const CodeLossOptions loss{head->scale(),
                             head_options.beta,
                             head_options.symmetric,
                             resolve_prior(head_options.prior, head_options.batch),
                             {}};
  const EncodeOptions encoding{1, resolve_bf16(o.train)};
  return measure_steps(std::max(3, o.steps / 4), 3, [&] {
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
                 {"images_per_second", batch / ours.seconds},
                 {"median_images_per_second", batch / ours.timing.median}};
  put_timing(result, "", ours.timing);
  TextTable table(
      {"training step", "images/s", "ms", "median ms", "spread", "convolutions and products"});
  const auto row = [&](const char* name, const Speed& speed) {
    table.add({name, readable(batch / speed.seconds), readable(1e3 * speed.seconds),
               readable(1e3 * speed.timing.median), spread_text(speed.timing),
               str(readable(100 * speed.product_share), " %")});
  };
  row("cplearn, with augmentation", ours);
  if (o.plain) {
    const Speed plain = time_plain(o);
    row("straightforward graph, no augmentation", plain);
    table.add({"  its convolutions and products alone", readable(batch / plain.product_seconds),
               readable(1e3 * plain.product_seconds), "", "", ""});
    result["plain_images_per_second"] = batch / plain.seconds;
    result["plain_products_images_per_second"] = batch / plain.product_seconds;
    put_timing(result, "plain_", plain.timing);
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
               << table.str()
               << "The best is that of ten steps in a row (three of the straightforward graph), "
                  "median and spread are of single steps.\n\n"
               << shares.str();
  common.result(result);
  return kSuccess;
}

}  // namespace cpl::cli
