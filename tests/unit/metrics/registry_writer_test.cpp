// SPDX-License-Identifier: Apache-2.0
#include "metrics/registry_writer.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string_view>

#include "metrics/metric_catalog.h"
#include "metrics/prometheus_text.h"

namespace offcpud {
namespace {

prometheus::MetricFamily gauge(std::string_view name) {
  prometheus::MetricFamily family;
  family.name = name;
  family.type = prometheus::MetricType::Gauge;
  family.metric.resize(1);
  family.metric[0].gauge.value = 7;
  return family;
}

TEST(RegistryWriter, AFamilyThatTheCatalogueDoesNotKnowIsAnError) {
  PrometheusText known({}), unknown({});
  EXPECT_NO_THROW(write_families(known, {gauge(metric_def(Metric::Series).name)}));
  EXPECT_THROW(write_families(unknown, {gauge("offcpud_nobody_knows")}), std::logic_error);
}

}  // namespace
}  // namespace offcpud
