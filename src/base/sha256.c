/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/sha256.h"

#include <string.h>

#define BLOCK_BYTES 64
#define LENGTH_BYTES 8 /* length of the message, at the end of the last block */

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turn(uint32_t word, int bits)
{
	return word >> bits | word << (32 - bits);
}

static void extend(const uint8_t *block, uint32_t words[64])
{
	for (int i = 0; i < 16; i++)
		words[i] = (uint32_t)block[4 * i] << 24 |
			   (uint32_t)block[4 * i + 1] << 16 |
			   (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 64; i++) {
		uint32_t a = words[i - 15], b = words[i - 2];

		words[i] = words[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) +
			   words[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
	}
}

/* Process one block. s holds the working variables a to h of the standard. */
static void take_block(uint32_t state[8], const uint8_t *block)
{
	uint32_t words[64], s[8];

	extend(block, words);
	memcpy(s, state, sizeof(s));
	for (int i = 0; i < 64; i++) {
		uint32_t first =
			s[7] + (turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25)) +
			((s[4] & s[5]) ^ (~s[4] & s[6])) + constants[i] + words[i];
		uint32_t second = (turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22)) +
				  ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += first;
		s[0] = first + second;
	}
	for (int i = 0; i < 8; i++)
		state[i] += s[i];
}

void sha256(const void *bytes, size_t length, uint8_t ret[SHA256_BYTES])
{
	uint32_t state[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	const uint8_t *at = bytes;
	uint8_t last[2 * BLOCK_BYTES] = { 0 };
	size_t rest = length % BLOCK_BYTES;
	size_t last_bytes = rest + 1 + LENGTH_BYTES > BLOCK_BYTES ? 2 * BLOCK_BYTES
								  : BLOCK_BYTES;

	for (size_t left = length; left >= BLOCK_BYTES;
	     left -= BLOCK_BYTES, at += BLOCK_BYTES)
		take_block(state, at);
	if (rest > 0)
		memcpy(last, at, rest);
	last[rest] = 0x80;
	for (int i = 0; i < LENGTH_BYTES; i++)
		last[last_bytes - 1 - (size_t)i] =
			(uint8_t)((uint64_t)length * 8 >> 8 * i);
	for (size_t done = 0; done < last_bytes; done += BLOCK_BYTES)
		take_block(state, last + done);
	for (int i = 0; i < SHA256_BYTES; i++)
		ret[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_add_base64(struct strbuf *out, const void *bytes, size_t length)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789+/";
	/* padded: 32 bytes are ten groups of three and one of two */
	uint8_t digest[SHA256_BYTES + 1] = { 0 };

	sha256(bytes, length, digest);
	for (int i = 0; i < SHA256_BYTES; i += 3) {
		uint32_t three = (uint32_t)digest[i] << 16 |
				 (uint32_t)digest[i + 1] << 8 | digest[i + 2];

		for (int shift = 18; shift >= 0; shift -= 6)
			strbuf_add_char(out, letters[three >> shift & 63]);
	}
	out->text[out->length - 1] = '=';
}
