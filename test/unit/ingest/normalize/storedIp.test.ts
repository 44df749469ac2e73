import { expect, test } from 'vitest'
import { storedIp } from '../../../../collector/ingest/normalize/address.ts'

test.each([
  ['203.0.113.77', '203.0.113.0'],
  ['::ffff:203.0.113.77', '203.0.113.0'],
  ['::ffff:cb00:714d', '203.0.113.0'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::'],
  ['::1', '::'],
  ['fe80::1%eth0', 'fe80::'],
  ['2002:cb00:714d::1', '2002:cb00:7100::'],
  ['unknown', null],
])('%s is truncated to %s', (address, network) => {
  expect(storedIp(address, 'truncated', true)).toBe(network)
})

test('a full address requires the setting and consent; none always stores null', () => {
  expect(storedIp('203.0.113.77', 'full', true)).toBe('203.0.113.77')
  expect(storedIp('203.0.113.77', 'full', false)).toBe('203.0.113.0')
  expect(storedIp('203.0.113.77', 'none', true)).toBeNull()
  expect(storedIp('203.0.113.77', 'none', false)).toBeNull()
})
