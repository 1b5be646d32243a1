#ifndef TRUNKLINE_SRTP3_H
#define TRUNKLINE_SRTP3_H

// What the mediasoup worker calls of libsrtp 3, done by libsrtp 2.5.
//
// The packet functions of libsrtp 3 bear the names of libsrtp 2's C functions but
// take other parameters, so they are C++ overloads here and need no renaming. The
// one clash is srtp_policy_t: a struct of libsrtp 2, a handle in libsrtp 3.
#define srtp_policy_t srtp2_policy
#include <srtp2/srtp.h>
#undef srtp_policy_t

#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

// Two results that libsrtp 2 does not have; its own end at 27.
inline constexpr auto srtp_err_status_buffer_small = static_cast<srtp_err_status_t>(28);
inline constexpr auto srtp_err_status_cryptex_err  = static_cast<srtp_err_status_t>(29);

// ---------------------------------------------------------------- policy

struct srtp3_policy
{
	srtp2_policy inner;
	// Master key, then master salt: what libsrtp 2 calls the key.
	uint8_t key[SRTP_MAX_KEY_LEN];
	bool hasProfile;
	bool hasKey;
};

using srtp_policy_t = srtp3_policy*;

inline srtp_err_status_t srtp_policy_create(srtp_policy_t* policy)
{
	*policy = new (std::nothrow) srtp3_policy{};

	return *policy ? srtp_err_status_ok : srtp_err_status_alloc_fail;
}

inline void srtp_policy_destroy(srtp_policy_t policy)
{
	if (!policy)
	{
		return;
	}

	// Through volatile, or the compiler drops stores to memory about to be freed and
	// the master key stays behind in the heap.
	for (volatile uint8_t& octet : policy->key)
	{
		octet = 0;
	}

	delete policy;
}

inline srtp_err_status_t srtp_policy_set_ssrc(srtp_policy_t policy, srtp_ssrc_t ssrc)
{
	policy->inner.ssrc = ssrc;

	return srtp_err_status_ok;
}

// The short tag of AES_CM_128_HMAC_SHA1_32 is for RTP only: libsrtp 2 gives RTCP the
// tag of 80 bits, as RFC 5764 section 4.1.2 asks.
inline srtp_err_status_t srtp_policy_set_profile(srtp_policy_t policy, srtp_profile_t profile)
{
	policy->hasProfile = false;

	auto result = srtp_crypto_policy_set_from_profile_for_rtp(&policy->inner.rtp, profile);

	if (result == srtp_err_status_ok)
	{
		result = srtp_crypto_policy_set_from_profile_for_rtcp(&policy->inner.rtcp, profile);
	}

	policy->hasProfile = result == srtp_err_status_ok;

	return result;
}

// One master key and no MKI: the worker asks for nothing else.
inline srtp_err_status_t srtp_policy_add_key(
  srtp_policy_t policy,
  const uint8_t* key,
  size_t keyLen,
  const uint8_t* salt,
  size_t saltLen,
  const uint8_t* /*mki*/,
  size_t mkiLen)
{
	const bool fits = keyLen <= sizeof(policy->key) && saltLen <= sizeof(policy->key) - keyLen;

	if (policy->hasKey || mkiLen != 0 || !fits)
	{
		return srtp_err_status_bad_param;
	}

	std::memcpy(policy->key, key, keyLen);
	std::memcpy(policy->key + keyLen, salt, saltLen);
	policy->inner.key = policy->key;
	policy->hasKey    = true;

	return srtp_err_status_ok;
}

inline srtp_err_status_t srtp_policy_set_allow_repeat_tx(srtp_policy_t policy, bool allow)
{
	policy->inner.allow_repeat_tx = allow;

	return srtp_err_status_ok;
}

inline srtp_err_status_t srtp_policy_set_window_size(srtp_policy_t policy, size_t packets)
{
	policy->inner.window_size = static_cast<unsigned long>(packets);

	return srtp_err_status_ok;
}

// ---------------------------------------------------------------- session

// libsrtp 2 derives its session keys here and keeps no reference to the policy.
inline srtp_err_status_t srtp_create(srtp_t* session, srtp_policy_t policy)
{
	if (!policy || !policy->hasProfile || !policy->hasKey)
	{
		return srtp_err_status_bad_param;
	}

	const srtp2_policy* inner = &policy->inner;

	return srtp_create(session, inner);
}

inline srtp_err_status_t srtp_stream_remove(srtp_t session, uint32_t ssrc)
{
	return srtp_remove_stream(session, ssrc);
}

// ---------------------------------------------------------------- packets

// libsrtp 3 reads one buffer and writes another of a stated size; libsrtp 2 works in
// place and trusts that `growth` octets follow the packet.
template<typename InPlace>
inline srtp_err_status_t srtp3_transform(
  const uint8_t* in, size_t inLen, uint8_t* out, size_t* outLen, size_t growth, InPlace inPlace)
{
	if (inLen > static_cast<size_t>(INT_MAX) - growth)
	{
		return srtp_err_status_bad_param;
	}

	if (*outLen < inLen + growth)
	{
		return srtp_err_status_buffer_small;
	}

	if (out != in)
	{
		std::memmove(out, in, inLen);
	}

	int len           = static_cast<int>(inLen);
	const auto result = inPlace(out, &len);

	if (result == srtp_err_status_ok)
	{
		*outLen = static_cast<size_t>(len);
	}

	return result;
}

inline srtp_err_status_t srtp_protect(
  srtp_t session, const uint8_t* in, size_t inLen, uint8_t* out, size_t* outLen, size_t /*mkiIndex*/)
{
	return srtp3_transform(
	  in,
	  inLen,
	  out,
	  outLen,
	  SRTP_MAX_TRAILER_LEN,
	  [session](void* packet, int* len) { return srtp_protect(session, packet, len); });
}

inline srtp_err_status_t srtp_unprotect(
  srtp_t session, const uint8_t* in, size_t inLen, uint8_t* out, size_t* outLen)
{
	return srtp3_transform(
	  in,
	  inLen,
	  out,
	  outLen,
	  0,
	  [session](void* packet, int* len) { return srtp_unprotect(session, packet, len); });
}

// RTCP grows by four octets more: the SRTCP index (RFC 3711 section 3.4).
inline srtp_err_status_t srtp_protect_rtcp(
  srtp_t session, const uint8_t* in, size_t inLen, uint8_t* out, size_t* outLen, size_t /*mkiIndex*/)
{
	return srtp3_transform(
	  in,
	  inLen,
	  out,
	  outLen,
	  SRTP_MAX_TRAILER_LEN + sizeof(uint32_t),
	  [session](void* packet, int* len) { return srtp_protect_rtcp(session, packet, len); });
}

inline srtp_err_status_t srtp_unprotect_rtcp(
  srtp_t session, const uint8_t* in, size_t inLen, uint8_t* out, size_t* outLen)
{
	return srtp3_transform(
	  in,
	  inLen,
	  out,
	  outLen,
	  0,
	  [session](void* packet, int* len) { return srtp_unprotect_rtcp(session, packet, len); });
}

#endif
