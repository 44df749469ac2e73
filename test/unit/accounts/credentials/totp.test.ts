import { expect, test } from 'vitest'
import {
  base32,
  otpauthUri,
  stepAt,
  stepOfCode,
} from '../../../../collector/accounts/credentials/totp.ts'
import { codeOf } from '../../../harness/totp.ts'

const secret = Buffer.from('12345678901234567890')

test('codes are those of RFC 6238, appendix B, for SHA-1', () => {
  const vectors: [seconds: number, eightDigits: string][] = [
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ]
  // Ours have six digits: the last six of the eight (RFC 4226, 5.3, step 3).
  for (const [seconds, digits] of vectors) {
    expect(codeOf(secret, stepAt(seconds * 1000))).toBe(digits.slice(2))
  }
})

test('a code is good in its own step and beside it, and no longer', () => {
  const now = 1_700_000_000_000
  const step = stepAt(now)
  for (const [apart, found] of [
    [-2, null],
    [-1, step - 1],
    [0, step],
    [1, step + 1],
    [2, null],
  ] as const) {
    expect(stepOfCode(secret, codeOf(secret, step + apart), now)).toBe(found)
  }
})

test('base 32 is that of RFC 4648, without padding', () => {
  const texts = {
    '': '',
    f: 'MY',
    fo: 'MZXQ',
    foo: 'MZXW6',
    foob: 'MZXW6YQ',
    fooba: 'MZXW6YTB',
    foobar: 'MZXW6YTBOI',
  }
  for (const [text, encoded] of Object.entries(texts))
    expect(base32(Buffer.from(text))).toBe(encoded)
})

test('the address for apps names issuer and account', () => {
  expect(otpauthUri(secret, 'ann+x@example.com')).toBe(
    'otpauth://totp/Footfall:ann%2Bx%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' +
      '&issuer=Footfall&algorithm=SHA1&digits=6&period=30',
  )
})
