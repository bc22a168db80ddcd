// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/model.hpp"

#include "kiln/problems/graph.hpp"

#include "families/model_kind.hpp"

namespace kiln {

Model::Model() : Model(Graph{}) {}

std::string_view Model::kind_name() const noexcept { return kind_->name; }
std::string_view Model::value_name() const noexcept { return kind_->value_name; }
Sense Model::natural_sense() const noexcept { return kind_->sense; }
ModelOutline Model::outline() const { return kind_->outline(data_.get()); }
std::string Model::fingerprint() const { return kind_->fingerprint(data_.get()); }

std::optional<NamedBest> Model::best_known(std::string_view fingerprint) const {
  return kind_->best_known == nullptr ? std::nullopt : kind_->best_known(fingerprint);
}

bool operator==(const Model& a, const Model& b) {
  return a.kind_ == b.kind_ && a.kind_->equal(a.data_.get(), b.data_.get());
}

Problem make_problem(Model model, Sense sense, std::string name) {
  const bool last = model.data_.use_count() == 1;
  return model.kind_->make(model.data_.get(), last, sense, std::move(name));
}

}  // namespace kiln
