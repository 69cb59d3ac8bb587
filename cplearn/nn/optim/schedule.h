#pragma once
// Learning rates as pure functions of the step: nothing to save, nothing to lose on resume.

#include <cstdint>
#include <string>
#include <vector>

namespace cpl {

// Units: optimiser steps, counted from 0.
struct Schedule {
  std::string name = "constant";
  double base = 1e-4;           // the learning rate that is scheduled
  std::int64_t total = 0;       // steps of the whole training
  std::int64_t warmup = 0;      // steps of linear warm-up, before any schedule
  double warmup_start = 3e-5;   // first value of the warm-up
  double final = 0;             // cosine: last value
  std::int64_t step_every = 0;  // step: a drop after so many steps
  double step_factor = 0.1;     // step: what a drop multiplies by
};

struct ScheduleRow {
  const char* name;
  const char* help;
  double (*rate)(const Schedule& schedule, std::int64_t step);  // after the warm-up
};

const std::vector<ScheduleRow>& schedules();

// Throws cpl::Error on settings that make no sense, listing the names. Call once, before training.
void check_schedule(const Schedule& schedule);

double learning_rate(const Schedule& schedule, std::int64_t step);

// From `first` to `last` along half a cosine; `progress` from 0 to 1. Also for teachers' momenta.
double cosine_between(double first, double last, double progress);

}  // namespace cpl
