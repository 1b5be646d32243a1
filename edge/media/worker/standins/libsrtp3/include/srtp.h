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
	uint8_t mki[SRTP_MAX_MKI_LEN];
	// The key with its MKI, where there is one, in the form that libsrtp 2 takes then.
	srtp_master_key_t masterKey;
	srtp_master_key_t* masterKeys[1];
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

// One master key: the worker asks for nothing else.
inline srtp_err_status_t srtp_policy_add_key(
  srtp_policy_t policy,
  const uint8_t* key,
  size_t keyLen,
  const uint8_t* salt,
  size_t saltLen,
  const uint8_t* mki,
  size_t mkiLen)
{
	const bool fits = keyLen <= sizeof(policy->key) && saltLen <= sizeof(policy->key) - keyLen;

	if (policy->hasKey || mkiLen > sizeof(policy->mki) || !fits)
	{
		return srtp_err_status_bad_param;
	}

	std::memcpy(policy->key, key, keyLen);
	std::memcpy(policy->key + keyLen, salt, saltLen);
	policy->hasKey = true;

	if (mkiLen == 0)
	{
		policy->inner.key = policy->key;

		return srtp_err_status_ok;
	}

	std::memcpy(policy->mki, mki, mkiLen);
	policy->masterKey             = { policy->key, policy->mki, static_cast<unsigned int>(mkiLen) };
	policy->masterKeys[0]         = &policy->masterKey;
	policy->inner.keys            = policy->masterKeys;
	policy->inner.num_master_keys = 1;

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

// libsrtp 2 derives its session keys here, copies the MKI, and keeps no reference to the policy.
inline srtp_err_status_t srtp_create(srtp_t* session, srtp_policy_t policy)
{
	if (!policy || !policy->hasProfile || !policy->hasKey)
	{
		return srtp_err_status_bad_param;
	}

	const srtp2_policy* inner = &policy->inner;

	return srtp_create(session, inner);
}

// Of the one SSRC that the policy names.
inline srtp_err_status_t srtp_stream_add(srtp_t session, srtp_policy_t policy)
{
	return srtp_add_stream(session, &policy->inner);
}

inline srtp_err_status_t srtp_stream_remove(srtp_t session, uint32_t ssrc)
{
	return srtp_remove_stream(session, ssrc);
}

inline srtp_err_status_t srtp_stream_set_roc(srtp_t session, uint32_t ssrc, uint32_t roc)
{
	return srtp_set_stream_roc(session, ssrc, roc);
}

inline srtp_err_status_t srtp_stream_get_roc(srtp_t session, uint32_t ssrc, uint32_t* roc)
{
	return srtp_get_stream_roc(session, ssrc, roc);
}

// ---------------------------------------------------------------- packets

// libsrtp 3 reads one buffer and writes another of a stated size; libsrtp 2 works in
// place and trusts that `growth` octets follow the packet. libsrtp 3 keeps whether
// packets have an MKI with the session; libsrtp 2 is told with each packet.
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
  srtp_t session,
  const uint8_t* in,
  size_t inLen,
  uint8_t* out,
  size_t* outLen,
  size_t /*mkiIndex*/,
  bool useMki)
{
	return srtp3_transform(
	  in,
	  inLen,
	  out,
	  outLen,
	  SRTP_MAX_TRAILER_LEN,
	  [session, useMki](void* packet, int* len)
	  { return srtp_protect_mki(session, packet, len, useMki, 0); });
}

inline srtp_err_status_t srtp_unprotect(
  srtp_t session, const uint8_t* in, size_t inLen, uint8_t* out, size_t* outLen, bool useMki)
{
	return srtp3_transform(
	  in,
	  inLen,
	  out,
	  outLen,
	  0,
	  [session, useMki](void* packet, int* len)
	  { return srtp_unprotect_mki(session, packet, len, useMki); });
}

// RTCP grows by four octets more: the SRTCP index (RFC 3711 section 3.4).
inline srtp_err_status_t srtp_protect_rtcp(
  srtp_t session,
  const uint8_t* in,
  size_t inLen,
  uint8_t* out,
  size_t* outLen,
  size_t /*mkiIndex*/,
  bool useMki)
{
	return srtp3_transform(
	  in,
	  inLen,
	  out,
	  outLen,
	  SRTP_MAX_TRAILER_LEN + sizeof(uint32_t),
	  [session, useMki](void* packet, int* len)
	  { return srtp_protect_rtcp_mki(session, packet, len, useMki, 0); });
}

inline srtp_err_status_t srtp_unprotect_rtcp(
  srtp_t session, const uint8_t* in, size_t inLen, uint8_t* out, size_t* outLen, bool useMki)
{
	return srtp3_transform(
	  in,
	  inLen,
	  out,
	  outLen,
	  0,
	  [session, useMki](void* packet, int* len)
	  { return srtp_unprotect_rtcp_mki(session, packet, len, useMki); });
}

#endif
