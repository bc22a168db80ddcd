// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace kiln::test {

/// A sample of a page of metrics.
struct MetricSample {
  std::map<std::string, std::string> labels;
  double value = 0;
};

/// A page of metrics, by the names of its families.
struct MetricsPage {
  std::multimap<std::string, MetricSample> samples;
};

/// Reads a page of gauges by the grammar that the text formats Prometheus 0.0.4 and OpenMetrics
/// 1.0.0 share. @throws std::runtime_error for whatever one of the two refuses: a family without
/// HELP and TYPE or in two pieces, a unit that does not end the name, a sample twice, a label
/// without quotes or with another escape than \\, \" and \n, a value that is no number, no end.
MetricsPage read_metrics(const std::string& text);

}  // namespace kiln::test
