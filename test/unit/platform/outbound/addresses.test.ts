import { expect, test } from 'vitest'
import {
  allowAddresses,
  isPublicAddress,
  requireReachable,
} from '../../../../collector/platform/outbound/addresses.ts'

test.each([
  '127.0.0.1',
  '127.255.0.1',
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.254',
  '192.168.1.1',
  '100.64.0.1',
  '100.100.100.200',
  '169.254.169.254',
  '168.63.129.16',
  '192.0.0.192',
  '198.18.0.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:a9fe:a9fe',
  '64:ff9b::7f00:1',
  '64:ff9b::169.254.169.254',
  '64:ff9b:1::a00:1',
  '2002:7f00:1::',
  '2001:0:7f00:1::',
  'fe80::1',
  'fec0::1',
  'fc00::1',
  'fd00:ec2::254',
  'ff02::1',
  '2001:db8::1',
  '4000::1',
])('%s is not on the public Internet', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

test.each([
  '8.8.8.8',
  '1.1.1.1',
  '172.32.0.1',
  '::ffff:8.8.8.8',
  '2606:4700:4700::1111',
  '2a00:1450::1',
])('%s is on the public Internet', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})

test('one address inside spoils the others of its host', () => {
  const nothing = allowAddresses([])
  expect(() => requireReachable(nothing, 'hooks.example', ['8.8.8.8'])).not.toThrow()
  expect(() => requireReachable(nothing, 'hooks.example', ['8.8.8.8', '10.0.0.1'])).toThrow(
    'hooks.example is not on the public Internet.',
  )
})

test('the operator lets hosts, addresses and ranges be reached, and nothing beside them', () => {
  const allowed = allowAddresses(['Crm.Internal', '10.1.0.0/16', '127.0.0.1', 'fd00::/8'])
  const reach = (host: string, ...addresses: string[]) => requireReachable(allowed, host, addresses)
  reach('crm.internal.', '192.168.0.9')
  reach('a.example', '10.1.2.3')
  reach('a.example', '127.0.0.1')
  reach('a.example', '::ffff:127.0.0.1')
  reach('a.example', 'fd12::1')
  expect(() => reach('other.crm.internal', '192.168.0.9')).toThrow()
  expect(() => reach('a.example', '10.2.0.1')).toThrow()
  expect(() => reach('a.example', '127.0.0.2')).toThrow()
  expect(() => reach('a.example', '::1')).toThrow()
})
