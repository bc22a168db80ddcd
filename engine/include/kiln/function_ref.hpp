// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <utility>

namespace kiln {

template <class Signature>
class FunctionRef;

/// Refers to a callable without owning it, for parameters of functions that call it before they
/// return. It costs a header less than std::function, which device code would parse, too.
template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  /// `callable` must outlive the reference; a temporary lives until the call that receives it
  /// returns.
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> &&
           !std::is_function_v<std::remove_reference_t<F>> && std::is_invocable_r_v<R, F&, Args...>)
      FunctionRef(F&& callable)
  noexcept  // NOLINT(google-explicit-constructor): like std::function
      : object_(const_cast<void*>(static_cast<const void*>(&callable))),
        call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...);
        }) {}

  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

}  // namespace kiln
