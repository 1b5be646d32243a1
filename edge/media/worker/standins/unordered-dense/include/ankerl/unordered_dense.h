#ifndef TRUNKLINE_UNORDERED_DENSE_H
#define TRUNKLINE_UNORDERED_DENSE_H

// ankerl::unordered_dense has the interface of the standard containers, so these
// can take its place. The tables of a SIP worker are small (a handful of streams
// per transport): the faster container gains nothing that can be measured here.

// mediasoup's sources rely on the original to bring these headers along.
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ankerl::unordered_dense
{
	template<typename T>
	using hash = std::hash<T>;

	template<typename K, typename V, typename H = std::hash<K>, typename E = std::equal_to<K>>
	using map = std::unordered_map<K, V, H, E>;

	template<typename K, typename H = std::hash<K>, typename E = std::equal_to<K>>
	using set = std::unordered_set<K, H, E>;
} // namespace ankerl::unordered_dense

#endif
