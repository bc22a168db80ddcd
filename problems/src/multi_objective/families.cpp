// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "families.hpp"

#include "benchmarks.hpp"
#include "discrete.hpp"

namespace kiln::problems {

void register_multi_objective(Registry& registry) {
  registry.add(
      ProblemEntry{.name = "cdtlz",
                   .parameters = "NAME or NAME,M",
                   .sentence = "constrained DTLZ problems with M objectives (default 3)",
                   .examples = {"cdtlz:c1-dtlz1", "cdtlz:c2-dtlz2,5"},
                   .make = [](const ProblemRequest& r) { return cdtlz_by_name(r.parameters); },
                   .names = cdtlz_names()});
  registry.add(
      ProblemEntry{.name = "cutpair",
                   .parameters = "N,DENSITY,SEED",
                   .sentence = "Max-Cut on a random graph of N vertices with two sets of edge "
                               "weights; maximises both cuts",
                   .examples = {"cutpair:200,5,1"},
                   .make = [](const ProblemRequest& r) { return cut_pair_by_name(r.parameters); }});
  registry.add(ProblemEntry{
      .name = "dtlz",
      .parameters = "1 .. 7, then M and K",
      .sentence = "DTLZ1 to DTLZ7 with M objectives (default 3) and K distance variables",
      .examples = {"dtlz:2", "dtlz:7,2", "dtlz:2,5,10"},
      .make = [](const ProblemRequest& r) { return dtlz_by_name(r.parameters); },
      .names = {
          {"1", "a flat front; the problem has many local fronts"},
          {"2", "a front that is part of a sphere"},
          {"3", "a front that is part of a sphere; the problem has many local fronts"},
          {"4", "a front that is part of a sphere; random states crowd at the edges of the front"},
          {"5", "a degenerate front (a curve)"},
          {"6", "a degenerate front (a curve) that is hard to approach"},
          {"7", "a front of 2^(M-1) pieces"}}});
  registry.add(ProblemEntry{
      .name = "knapsack",
      .parameters = "N,M,SEED",
      .sentence = "N items for M knapsacks, generated from SEED; maximises the M profits",
      .examples = {"knapsack:250,2,1"},
      .make = [](const ProblemRequest& r) { return knapsack_by_name(r.parameters); }});
  registry.add(ProblemEntry{
      .name = "re",
      .parameters = "21 .. 37",
      .sentence =
          "engineering designs with two or three objectives, and integer and real variables",
      .examples = {"re:21", "re:37"},
      .make = [](const ProblemRequest& r) { return engineering_design_by_name(r.parameters); },
      .names = engineering_design_names()});
  registry.add(ProblemEntry{
      .name = "route",
      .parameters = "FILE",
      .sentence = "assignment of queries to language models, by cost, latency and quality",
      .examples = {"route:apps/examples/route_models/models.csv"},
      .make = [](const ProblemRequest& r) { return routing_by_name(r.parameters); }});
  registry.add(ProblemEntry{
      .name = "wfg",
      .parameters = "1 .. 9, then M, K and L",
      .sentence = "WFG1 to WFG9 with M objectives (default 2), K position and L distance variables",
      .examples = {"wfg:4", "wfg:1,3,4,20"},
      .make = [](const ProblemRequest& r) { return wfg_by_name(r.parameters); },
      .names = {
          {"1", "a front of convex and concave parts; the distance variables have a flat region"},
          {"2", "a convex front of several pieces; the variables are not separable"},
          {"3", "a front that is a line for M = 2; the variables are not separable"},
          {"4", "a concave front; the problem has many local fronts"},
          {"5", "a concave front; the variables are deceptive"},
          {"6", "a concave front; the variables are not separable"},
          {"7",
           "a concave front; the effect of a position variable depends on the variables after it"},
          {"8",
           "a concave front; the effect of a distance variable depends on the variables before it"},
          {"9",
           "a concave front; position variables are deceptive; the variables are not separable"}}});
  registry.add(ProblemEntry{
      .name = "zdt",
      .parameters = "1 .. 6, then D",
      .sentence = "ZDT1 to ZDT6: two objectives, D variables",
      .examples = {"zdt:1", "zdt:4", "zdt:1,100"},
      .make = [](const ProblemRequest& r) { return zdt_by_name(r.parameters); },
      .names = {{"1", "a convex front"},
                {"2", "a concave front"},
                {"3", "a front of five pieces"},
                {"4", "a convex front; the problem has 21^(D-1) local fronts"},
                {"5", "strings of bits; the second objective is deceptive in the number of ones"},
                {"6", "a concave front; random states crowd at one end of the front"}}});
}

}  // namespace kiln::problems
