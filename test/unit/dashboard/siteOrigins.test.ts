import { expect, test } from 'vitest'
import { siteOrigins } from '../../../collector/dashboard/web/pages/siteOrigins.ts'

test.each([
  ['', []],
  ['shop.example', ['https://shop.example', 'https://www.shop.example']],
  ['https://www.shop.example/about', ['https://www.shop.example', 'https://shop.example']],
  ['http://localhost:3000', ['http://localhost:3000']],
  ['http://127.0.0.1:8080/', ['http://127.0.0.1:8080']],
  ['http://[::1]:8080', ['http://[::1]:8080']],
])('origins of %j: a domain has them with and without www', (address, origins) => {
  expect(siteOrigins(address)).toEqual(origins)
})

test.each(['https://', 'not an address', 'ftp://shop.example'])(
  '%j is not the address of a site',
  (address) => {
    expect(() => siteOrigins(address)).toThrow('Must be an address, such as https://example.com')
  },
)
