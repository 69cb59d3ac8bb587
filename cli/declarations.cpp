// What the commands take that are the engine's from beginning to end.

#include "cli/engine.h"

namespace cpl::cli {
namespace {

constexpr const char* kRunHelp = "a run directory, or one of its checkpoints";
constexpr const char* kImagesHelp = "images; default: those the run was trained on";

}  // namespace

Run declare_eval(CLI::App& app) {
  auto arguments = std::make_shared<EvalArguments>();
  app.add_option("run", arguments->run, kRunHelp)->required();
  arguments->evaluation.visit(AddOptions(app));
  return [arguments](const Common& common) { return engine().eval(*arguments, common); };
}

Run declare_diagnose(CLI::App& app) {
  auto arguments = std::make_shared<DiagnoseArguments>();
  app.add_option("run", arguments->run, kRunHelp);
  AddOptions add(app);
  add("data", arguments->data, "images to look at; default: those the run was trained on");
  add("embeddings", arguments->embeddings,
      "instead of a run: a .npy file of embeddings from any tool, a row per image");
  add("labels", arguments->labels,
      "beside --embeddings: classes, a .npy file of integers or a number per line");
  add("out", arguments->out, "folder for diagnosis.json and gallery.json; default: the run's own");
  add("maps", arguments->maps,
      "make gallery.json: maps by t-SNE and principal components, clusters");
  arguments->diagnosis.visit(add);
  return [arguments](const Common& common) {
    check_usage(arguments->run.empty() != arguments->embeddings.empty(),
                "diagnose: give a run directory, or --embeddings FILE.npy");
    check_usage(arguments->labels.empty() || !arguments->embeddings.empty(),
                "diagnose: --labels goes with --embeddings; a run's labels are those of its data");
    check_usage(arguments->data.empty() || arguments->embeddings.empty(),
                "diagnose: --data goes with a run; --embeddings has its own rows");
    return engine().diagnose(*arguments, common);
  };
}

Run declare_embed(CLI::App& app) {
  auto arguments = std::make_shared<EmbedArguments>();
  app.add_option("run", arguments->run, kRunHelp)->required();
  AddOptions add(app);
  add("data", arguments->data, kImagesHelp);
  add("out", arguments->out, "the .npy file; a .csv with file names and labels goes beside it");
  add("what", arguments->what, "of each image", kFeatureKindNames);
  return [arguments](const Common& common) { return engine().embed(*arguments, common); };
}

Run declare_cluster(CLI::App& app) {
  auto arguments = std::make_shared<ClusterArguments>();
  app.add_option("run", arguments->run, kRunHelp)->required();
  AddOptions add(app);
  add("data", arguments->data, kImagesHelp);
  add("out", arguments->out, "folder for clusters.csv and index.html");
  arguments->clusters.visit(add);
  return [arguments](const Common& common) { return engine().cluster(*arguments, common); };
}

Run declare_theory(CLI::App& app) {
  auto arguments = std::make_shared<TheoryArguments>();
  TheoryOptions& checks = arguments->checks;
  FreePointsOptions& points = arguments->points;
  AddOptions add(app);
  add("width", checks.width,
      "f = c, an order of a Hadamard matrix: 4, 8, 12, 16, 20, 24, ...; with --optimise any f",
      AtLeast{3});
  add("batch", checks.batch, "n, a multiple of the width; not with --optimise", AtLeast{1});
  add("beta", checks.beta, "weight of the invariance term", AtLeast{0});
  add("optimise", arguments->optimise,
      "instead, let points without a network move as the loss wants, from several starts, and say "
      "where they come to rest");
  add("activation", points.activation, "with --optimise: tanh or l2", kActivationNames);
  add("scale", points.scale, "with --optimise: of the logits", kLogitScaleNames);
  add("deviation", points.deviation,
      "with --optimise: of the logits, by scale deviation; 0: the square root of ln codes",
      Between{0, 1000});
  add("prior", points.prior, "with --optimise: others, reverse or forward, as in 'train'",
      kPriorFormNames);
  add("dictionary", points.dictionary, "with --optimise: hadamard or rademacher", kDictionaryNames);
  add("correlation", points.correlation,
      "with --optimise: between the views of a point; 1: they are the same", Between{1e-3, 1});
  add("steps", points.steps, "with --optimise: of gradient descent", AtLeast{1});
  return [arguments](const Common& common) { return engine().theory(*arguments, common); };
}

Run declare_dictionary(CLI::App& app) {
  auto arguments = std::make_shared<DictionaryArguments>();
  arguments->visit(AddOptions(app));
  return [arguments](const Common& common) { return engine().dictionary(*arguments, common); };
}

Run declare_data(CLI::App& app) {
  using Action = DataArguments::Action;
  app.require_subcommand(1);
  auto arguments = std::make_shared<DataArguments>();
  const auto add = [&](const char* name, const char* summary, Action action, const char* example) {
    CLI::App* sub = app.add_subcommand(name, summary);
    sub->footer(str("Example:\n  ", example));
    sub->add_option("SPEC", arguments->spec, "data, as for --data (see 'cplearn info')")
        ->required();
    sub->callback([arguments, action] { arguments->action = action; });
    return sub;
  };
  CLI::App* info = add("info", "Counts, sizes, classes, bad files, and a picture of the views",
                       Action::kInfo, "cplearn data info photos/ --sheet views.png");
  info->add_option("--augment", arguments->augment, "recipe of the views in the picture")
      ->capture_default_str();
  info->add_option("--image-size", arguments->image_size, "of the views; 0: the recipe's own")
      ->capture_default_str();
  info->add_option("--sheet", arguments->sheet, "PNG to write; '' for none")->capture_default_str();
  info->add_option("--rows", arguments->sheet_rows, "images in the picture")->capture_default_str();
  info->add_option("--sample", arguments->sample, "images to decode, spread over the set")
      ->capture_default_str();
  add("verify", "Decode every image and list those that cannot be read", Action::kVerify,
      "cplearn data verify photos/ --json");
  add("fetch", "Download a public data set, check it and unpack it", Action::kFetch,
      "cplearn data fetch cifar10:data");
  return [arguments](const Common& common) { return engine().data(*arguments, common); };
}

namespace {

// A part of `cplearn bench`: its arguments, and the row of the engine that runs it.
template <class Arguments>
Run declare_part(CLI::App& app, int (*Engine::*row)(const Arguments&, const Common&)) {
  auto arguments = std::make_shared<Arguments>();
  arguments->visit(AddOptions(app));
  return [arguments, row](const Common& common) { return (engine().*row)(*arguments, common); };
}

}  // namespace

Run declare_bench(CLI::App& app) {
  app.require_subcommand(1);
  auto runs = std::make_shared<std::vector<std::pair<CLI::App*, Run>>>();
  const auto add = [&](const char* name, const char* summary, auto row) {
    CLI::App* sub = app.add_subcommand(name, summary);
    runs->emplace_back(sub, declare_part(*sub, row));
  };
  add("head", "The fused head beside the straightforward libtorch graph, in one run",
      &Engine::bench_head);
  add("train", "Training steps with augmentation, beside the straightforward graph",
      &Engine::bench_train);
  add("data", "Augmentation and decoding, per core", &Engine::bench_data);
  add("embed", "Features from images to disk, beside the forward pass alone", &Engine::bench_embed);
  return [runs](const Common& common) {
    for (const auto& [sub, run] : *runs) {
      if (*sub) return run(common);
    }
    return static_cast<int>(kUsage);
  };
}

}  // namespace cpl::cli
