#include "chain_rules.hpp"

namespace widthwise::blocks {

bool scales_terms(const Unit& u) { return u.scale && u.scale->apply == ScaleApply::term; }

bool has_power_scales(const Unit& u) {
  if (!scales_terms(u) || u.scale->fmt.precision() > 1 || !are_doubles(u.a) || !are_doubles(u.b))
    return false;
  const Format& f = u.scale->fmt;
  return f.emin() >= -watched_reach && f.emax() <= watched_reach;
}

bool has_other_scales(const Unit& u) {
  return u.scale && !(has_power_scales(u) && u.product.round);
}

bool plain_exact(const Sum& s) {
  return s.order == Order::fused && s.align.reference == Reference::exact && !s.width;
}

Unit flattened(Unit u) {
  const bool scaled = u.scale && u.scale->apply == ScaleApply::group;
  if (scaled || !plain_exact(u.group_sum) || (u.groups && !plain_exact(u.block_sum)) ||
      (u.c_level == CLevel::block && !plain_exact(u.block_sum)) ||
      (u.c_level == CLevel::late && !plain_exact(u.c_sum)))
    return u;
  u.groups.reset();
  u.c_level = CLevel::group;
  return u;
}

}  // namespace widthwise::blocks
