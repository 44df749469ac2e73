/** Lists and loads hash addresses in ClickHouse, as the collector does. */
import { expect, inject, test } from 'vitest'
import { hemNumberOfAddress, isAddress } from '../../collector/identity/load/valuesSql.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { hemOf, isEmail } from '../../collector/platform/hem.ts'

const texts = [
  'Ann@Example.com',
  ' ann@example.com\t',
  'mailto:ann@example.com',
  'MAILTO:ann@example.com?subject=x',
  'ann@example.com\u200b',
  '\ufeffann@example.com',
  '\u00a0ann@exam\u00adple.com',
  'Ann Example <ann@example.com>',
  'ann@example.com,',
  'jürgen@exämple.de',
  'ann@example',
  'ann@@example.com',
  'a@b.com, c@d.com',
  'o.hara+x@example.co.uk',
]

test('the SQL of addresses accepts and hashes the same texts as the collector', async () => {
  const clickhouse = openClickHouse(inject('clickhouseUrl'), 'default')
  try {
    const rows = await clickhouse.rows<{ text: string; valid: boolean; same: boolean }>({
      sql: `SELECT text, toBool(${isAddress('text')}) AS valid, toBool(${hemNumberOfAddress('text')} = reinterpretAsUInt256(unhex(hem))) AS same
            FROM (SELECT {texts:Array(String)} AS texts, {hems:Array(String)} AS hems) ARRAY JOIN texts AS text, hems AS hem`,
      params: { texts, hems: texts.map(hemOf) },
    })
    expect(rows).toEqual(texts.map((text) => ({ text, valid: isEmail(text), same: true })))
  } finally {
    await clickhouse.close()
  }
})
