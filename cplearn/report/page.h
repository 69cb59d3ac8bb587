#pragma once
// A page about runs: HTML that needs nothing from outside. Its text, styles and scripts are the
// files in page/, which the build turns into constants; its numbers are the records.

#include <string>
#include <vector>

#include "cplearn/report/run_record.h"

namespace cpl {

// A page that holds the runs, to be kept or sent.
std::string report_page(const std::vector<RunRecord>& runs);

// The same page without runs: it asks the server that sent it for them (report/server.h).
std::string live_page();

// What the page's scripts know of a run.
Json page_run(const RunRecord& run);

// JSON that may stand inside a <script> element: no character in it can end the element, and what
// is not UTF-8 is replaced.
std::string json_in_html(const Json& value);

}  // namespace cpl
