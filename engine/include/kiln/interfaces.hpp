// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

class Queryable;

/// A set of interfaces, each identified by its type. An interface is a class with a `static
/// constexpr std::string_view interface_name`, which messages use.
class InterfaceSet {
 public:
  template <class A>
  void add() {
    if (!has<A>()) members_.push_back({&typeid(A), std::string(A::interface_name)});
  }
  template <class A>
  bool has() const noexcept {
    return has(typeid(A));
  }
  bool has(const std::type_info& type) const noexcept {
    for (const Member& member : members_) {
      if (*member.type == type) return true;
    }
    return false;
  }
  /// The name of the first interface that an object does not implement; "" if it implements all.
  KILN_API std::string missing_in(const Queryable& object) const;

 private:
  struct Member {
    const std::type_info* type;
    std::string name;
  };
  std::vector<Member> members_;
};

/// Base class of objectives and schedules, whose optional interfaces are queried by type.
///
///     if (Sweeps* const sweeps = bound.as<Sweeps>()) sweeps->metropolis_sweep(args, queue);
class KILN_API Queryable {
 public:
  virtual ~Queryable();

  /// The object as interface `A`; null if it does not implement it.
  template <class A>
  A* as() noexcept {
    return const_cast<A*>(static_cast<const A*>(find(typeid(A))));
  }
  template <class A>
  const A* as() const noexcept {
    return static_cast<const A*>(find(typeid(A)));
  }

  /// The interfaces of a class, known without an object; Offers adds to it.
  static InterfaceSet interfaces() { return {}; }

 protected:
  friend class InterfaceSet;
  virtual const void* find(const std::type_info& type) const noexcept;
};

/// `Base` with further interfaces. A class lists its interfaces once; the query of an object and
/// the set of the class follow:
///
///     class BoundPotts final : public Offers<BoundObjective, Evaluates, Sweeps> { ... };
template <class Base, class... Interfaces>
class Offers : public Base, public Interfaces... {
 public:
  using Base::Base;

  static InterfaceSet interfaces() {
    InterfaceSet all = Base::interfaces();
    (all.add<Interfaces>(), ...);
    return all;
  }

 protected:
  const void* find(const std::type_info& type) const noexcept override {
    const void* found = Base::find(type);
    ((typeid(Interfaces) == type ? void(found = static_cast<const Interfaces*>(this)) : void()),
     ...);
    return found;
  }
};

}  // namespace kiln
