import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openLocate } from '../../../../collector/ingest/normalize/address.ts'
import { writeDatabase } from '../../../harness/mmdb.ts'

const directory = mkdtempSync(join(tmpdir(), 'footfall-locations-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
const file = join(directory, 'test.mmdb')

const own = openLocate(null)
const locationOf = (address: string, locate = own) => JSON.parse(`{${locate(address)}}`)
const unknown = { country: null, region: null, city: null }

test.each([
  ['8.8.8.8', 'US'],
  ['81.2.69.142', 'GB'],
  ['::ffff:81.2.69.142', 'GB'],
  ['85.214.132.117', 'DE'],
  ['2a02:6b8::1', 'RU'],
])('the country of %s is %s, asked once or again', (address, country) => {
  expect(locationOf(address)).toEqual({ ...unknown, country })
  expect(locationOf(address)).toEqual({ ...unknown, country })
})

test.each([
  '127.0.0.1',
  '10.1.2.3',
  '::1',
  'fe80::1%eth0',
  '',
  'no address',
  "8.8.8.8'",
  '999.1.1.1',
])('of %j nothing is known', (address) => {
  expect(locationOf(address)).toEqual(unknown)
})

test('a database of cities, as MaxMind and DB-IP have them, tells region and city', () => {
  writeDatabase(file, 127, {
    country: { iso_code: 'AT', names: { en: 'Austria' } },
    subdivisions: [{ iso_code: '9', names: { de: 'Wien', en: 'Vienna' } }],
    city: { names: { en: 'Vienna "Wien"' } },
  })
  const locate = openLocate(file)
  expect(locationOf('127.1.2.3', locate)).toEqual({
    country: 'AT',
    region: 'Vienna',
    city: 'Vienna "Wien"',
  })
  expect(locationOf('128.0.0.1', locate)).toEqual(unknown)
})

test('one that is as flat as ip-location-db’s tells them, too', () => {
  writeDatabase(file, 127, { country_code: 'AT', state1: 'Tyrol', city: 'Innsbruck' })
  expect(locationOf('127.0.0.1', openLocate(file))).toEqual({
    country: 'AT',
    region: 'Tyrol',
    city: 'Innsbruck',
  })
})

test('one that lacks parts of it says null for these', () => {
  writeDatabase(file, 127, {
    country: { iso_code: 'AT' },
    subdivisions: [],
    city: { names: { de: 'Wien' } },
  })
  expect(locationOf('127.0.0.1', openLocate(file))).toEqual({ ...unknown, country: 'AT' })
})

test('a file that is missing, or none of the kind, is refused with its name', () => {
  expect(() => openLocate(join(directory, 'none.mmdb'))).toThrow(
    /FOOTFALL_IP_DATABASE .*none\.mmdb/,
  )
  writeFileSync(file, 'country,city\n')
  expect(() => openLocate(file)).toThrow(/FOOTFALL_IP_DATABASE .*test\.mmdb/)
})
