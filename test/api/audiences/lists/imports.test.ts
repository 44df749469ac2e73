/** The rows of a file with any content, after interruptions of its import at any point. */
import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countRows, runImport } from '../../../../collector/audiences/lists/import/runImport.ts'
import type { ClickHouse } from '../../../../collector/platform/clickhouse/client.ts'
import { hemOf } from '../../../../collector/platform/hem.ts'
import { insertRows } from '../../../harness/rows.ts'
import { openLists } from './harness.ts'

let lists: Awaited<ReturnType<typeof openLists>>
beforeAll(async () => {
  lists = await openLists()
})
afterAll(() => lists.close())

const sumOf = ({ matched, unmatched, duplicate, rejected }: Record<string, number>) =>
  matched! + unmatched! + duplicate! + rejected!

const insert = (table: string, rows: readonly object[]) => insertRows(lists.clickhouse, table, rows)

describe('the rows of a file', () => {
  test('are matched, unmatched, duplicate or rejected, each once', async () => {
    await insert('profiles', [{ hem: hemOf('known@lists.example'), first_name: 'K' }])
    const { listId, counts, rejected } = await lists.importFile(
      'name,email\nAda,Known@Lists.example \nBen,new@lists.example\nCy,KNOWN@lists.example\nDi,none\n',
    )
    expect(counts).toEqual({ total: 4, matched: 1, unmatched: 1, duplicate: 1, rejected: 1 })
    expect(rejected).toEqual([{ line: 5, reason: 'not_an_email' }])
    expect((await lists.membersOf(listId)).sort()).toEqual(
      [hemOf('known@lists.example'), hemOf('new@lists.example')].sort(),
    )
  })

  test('hold no e-mail address in either store, nor on the disk, once it is imported', async () => {
    const { importId } = await lists.importFile('email\nsecret.person@lists.example\n')
    for (const table of ['list_members', 'list_rejected_lines']) {
      const rows = await lists.clickhouse.rows({ sql: `SELECT * FROM ${table}`, params: {} })
      expect(JSON.stringify(rows)).not.toContain('secret.person')
    }
    expect(await lists.uploads.list(0)).not.toContain(importId)
  })

  test('are those of the list already where it has them', async () => {
    const { listId } = await lists.importFile('email\na@lists.example\nb@lists.example\n')
    const { counts } = await lists.importFile('email\nb@lists.example\nc@lists.example\n', {
      listId,
    })
    expect(counts).toEqual({ total: 2, matched: 0, unmatched: 1, duplicate: 1, rejected: 0 })
    const { rows } = await lists.postgres.query('SELECT count::int FROM lists WHERE list_id = $1', [
      listId,
    ])
    expect(rows).toEqual([{ count: 3 }])
  })

  test.each([
    [
      'hems',
      hemOf('x@lists.example').toUpperCase(),
      hemOf('x@lists.example'),
      'nothing',
      'not_a_hem',
    ],
    ['domains', 'WWW.Shop.example', 'shop.example', 'no domain', 'not_a_domain'],
    [
      'cookies',
      '5A3B1E00-0000-4000-8000-00000000FFFF',
      '5a3b1e00-0000-4000-8000-00000000ffff',
      '00000000-0000-0000-0000-000000000000',
      'not_a_cookie_id',
    ],
  ] as const)('are %s too', async (kind, item, member, wrong, reason) => {
    const { listId, counts, rejected } = await lists.importFile(`${item}\n${wrong}\n`, { kind })
    expect(counts).toMatchObject({ total: 2, matched: 0, unmatched: 1, rejected: 1 })
    expect(rejected).toEqual([{ line: 2, reason }])
    expect(await lists.membersOf(listId)).toEqual([member])
  })
})

test.each(['emails', 'domains'] as const)(
  '%s are counted alike in shares of any size',
  async (kind) => {
    const itemOf = (n: number) =>
      kind === 'emails' ? `p${n}@shares.example` : `p${n}.shares.example`
    const known = Array.from({ length: 300 }, (_, n) => itemOf(n * 3))
    if (kind === 'emails')
      await insert(
        'profiles',
        known.map((item) => ({ hem: hemOf(item), first_name: 'K' })),
      )
    else
      await insert(
        'companies',
        known.map((company_domain) => ({ company_domain, company_name: 'K' })),
      )
    const linesOf = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => `${itemOf(from + n)}\n`).join('')
    const { listId } = await lists.importFile(linesOf(0, 300), { kind })
    const bytes = `${linesOf(200, 1_200)}none\n${linesOf(1_100, 1_200)}`
    const { importId, counts } = await lists.importFile(bytes, { kind, listId })
    // New are 300 to 1,199; known are those below 900 that three divides.
    expect(counts).toEqual({
      total: 1_101,
      matched: 200,
      unmatched: 700,
      duplicate: 200,
      rejected: 1,
    })
    const counted = {
      ...{ listId, importId, kind, organizationId: lists.organizationId, total: 1_101 },
      erased: [],
    }
    for (const rowsAtOnce of [500, 40])
      expect(
        await countRows(lists.clickhouse, { ...counted, notCompleted: [] }, rowsAtOnce),
      ).toEqual(counts)
  },
)

test('random lists of every kind: the counters equal a naive evaluation, whatever the list has already', async () => {
  const { organizationId, clickhouse, postgres } = lists
  const pick = (most: number) => Math.floor(Math.random() * most)
  const mark = randomUUID().slice(0, 8)
  const itemOf = {
    emails: (n: number) => `p${n}@${mark}.example`,
    hems: (n: number) => hemOf(`p${n}@${mark}.example`),
    domains: (n: number) => `p${n}.${mark}.example`,
    cookies: (n: number) => `${mark}-0000-4000-8000-${String(n).padStart(12, '0')}`,
  } as const
  const all = Array.from({ length: 40 }, (_, n) => n)
  const numbers = { known: all.filter((n) => n % 3 === 0), hidden: all.filter((n) => n % 9 === 0) }
  const hem = (n: number) => hemOf(`p${n}@${mark}.example`)
  await insert(
    'profiles',
    numbers.known.map((n) => ({ hem: hem(n), first_name: 'K' })),
  )
  await insert(
    'companies',
    numbers.known.map((n) => ({ company_domain: itemOf.domains(n) })),
  )
  await insert(
    'identity_links',
    numbers.known.map((n) => ({
      organization_id: organizationId,
      cookie_id: itemOf.cookies(n),
      ...{ hem: hem(n), pixel_id: randomUUID(), observed_at: '2026-01-01 00:00:00' },
      ...{ spool_id: randomUUID(), seq: 1 },
    })),
  )
  // Half of the hidden people opted out of the organization, the others are being erased.
  const [gone, erased] = [
    numbers.hidden.filter((n) => n % 2 === 0),
    numbers.hidden.filter((n) => n % 2 === 1),
  ]
  await insert(
    'opt_outs',
    gone.map((n) => ({ organization_id: organizationId, hem: hem(n), is_active: true })),
  )
  for (const n of erased)
    await postgres.query('INSERT INTO erasures (organization_id, hem) VALUES ($1, $2)', [
      organizationId,
      hem(n),
    ])
  for (const name of ['person_by_hem', 'identity_by_cookie', 'identity_by_cookie_lately'])
    await clickhouse.command({ sql: `SYSTEM RELOAD DICTIONARY ${name}`, params: {} })
  for (const kind of ['emails', 'hems', 'domains', 'cookies'] as const) {
    const set = (of: readonly number[]) => new Set(of.map(itemOf[kind]))
    const known = set(numbers.known)
    // A company is nobody who could opt out, and the graph resolves a browser until the erasure ends.
    const hidden = set(
      { domains: [], cookies: gone, emails: numbers.hidden, hems: numbers.hidden }[kind],
    )
    const members = new Set<string>()
    let listId: string | undefined
    for (let round = 0; round < 3; round++) {
      // The first line is an item, so the file has no header.
      const items = Array.from({ length: 2 + pick(60) }, (_, at) =>
        at > 0 && pick(8) === 0 ? 'no item' : itemOf[kind](pick(all.length)),
      )
      const expected = { total: items.length, matched: 0, unmatched: 0, duplicate: 0, rejected: 0 }
      for (const item of items) {
        if (item === 'no item') expected.rejected++
        else if (members.has(item)) expected.duplicate++
        else if (known.has(item) && !hidden.has(item)) expected.matched++
        else expected.unmatched++
        if (item !== 'no item') members.add(item)
      }
      const options = { kind, ...(listId !== undefined && { listId }) }
      const imported = await lists.importFile(`${items.join('\n')}\n`, options)
      listId = imported.listId
      expect(imported.counts).toEqual(expected)
    }
  }
  await postgres.query('DELETE FROM erasures')
})

describe('a broken line', () => {
  const good = 'good@lists.example'
  test('costs itself alone, whatever is wrong', async () => {
    const broken: [line: Buffer | string, reason: string][] = [
      ['', 'empty_line'],
      [' \t\r', 'empty_line'],
      [Buffer.from([0x61, 0xff, 0x40, 0x62]), 'not_utf8'],
      ['a\0b@lists.example', 'nul_byte'],
      ['"open@lists.example', 'text_after_quote'],
      ['"quoted"@lists.example', 'text_after_quote'],
      ['a@lists.example,b', 'wrong_field_count'],
      [`${'x'.repeat(70_000)}@lists.example`, 'too_long'],
      ['no address', 'not_an_email'],
      ['a@b@lists.example', 'not_an_email'],
      ['""', 'no_value'],
    ]
    const file = Buffer.concat([
      Buffer.from('email\n'),
      ...broken.flatMap(([line], n) => [
        Buffer.from(`${n}${good}\n`),
        Buffer.from(line as string),
        Buffer.from(`\n"${n}after@lists.example"\n`),
      ]),
    ])
    const { counts, rejected } = await lists.importFile(file)
    expect(rejected).toEqual(broken.map(([, reason], n) => ({ line: 3 + 3 * n, reason })))
    expect(counts).toEqual({ total: 33, matched: 0, unmatched: 22, duplicate: 0, rejected: 11 })
  })

  test('whose quote nothing closes costs itself alone, to the end of the file', async () => {
    const { rejected, counts } = await lists.importFile(
      `email\n${good}\n"open@lists.example\nlast@lists.example\n`,
    )
    expect(rejected).toEqual([{ line: 3, reason: 'unclosed_quote' }])
    expect(counts).toMatchObject({ total: 3, matched: 0, unmatched: 2, rejected: 1 })
  })

  test('within quotes does not break a row; later lines keep their numbers', async () => {
    const { rejected, counts } = await lists.importFile(
      'note,email\n"two\nlines, ""quoted""",a@lists.example\n"one" , "b@lists.example" \nx,wrong\n',
    )
    expect(counts).toEqual({ total: 3, matched: 0, unmatched: 2, duplicate: 0, rejected: 1 })
    expect(rejected).toEqual([{ line: 5, reason: 'not_an_email' }])
  })

  test('of NDJSON costs itself alone, whatever is wrong', async () => {
    const broken = [
      ['{"email":', 'not_json'],
      ['{"email":7}', 'no_value'],
      ['{"mail":"a@lists.example"}', 'no_value'],
      ['7', 'no_value'],
      ['"a\\u0000b@lists.example"', 'nul_byte'],
      ['', 'empty_line'],
      ['"nobody"', 'not_an_email'],
    ]
    const lines = broken.map(
      ([line], n) => `{"email":"${n}${good}"}\n${line}\n"${n}text@lists.example"\n`,
    )
    const { rejected, counts } = await lists.importFile(lines.join(''), { format: 'ndjson' })
    expect(rejected).toEqual(broken.map(([, reason], n) => ({ line: 2 + 3 * n, reason })))
    expect(counts).toMatchObject({ total: 21, matched: 0, unmatched: 14, rejected: 7 })
  })
})

describe('a file', () => {
  test.each([
    ['with a byte order mark', '\ufeffemail\na@lists.example\n'],
    ['of lines that end in CR LF', 'email\r\na@lists.example\r\n'],
    ['with semicolons', 'name;email\nAda;a@lists.example\n'],
    ['with tabs', 'name\tE-Mail\nAda\ta@lists.example\n'],
    ['without header', 'a@lists.example\n'],
    ['without header, with a byte order mark', '\ufeffa@lists.example'],
  ])('%s is read', async (_what, file) => {
    const { counts, rejected } = await lists.importFile(file)
    expect(rejected).toEqual([])
    expect(counts).toMatchObject({ total: 1, matched: 0, unmatched: 1 })
  })

  test('packed with gzip is read', async () => {
    const { counts } = await lists.importFile(gzipSync('email\na@lists.example\n'))
    expect(counts).toMatchObject({ total: 1, matched: 0, unmatched: 1 })
  })

  test('of a header alone has no rows', async () => {
    const { counts } = await lists.importFile('email\n')
    expect(counts).toEqual({ total: 0, matched: 0, unmatched: 0, duplicate: 0, rejected: 0 })
  })

  test.each<[string, Buffer | string, string | undefined, RegExp]>([
    ['that is empty', '', undefined, /empty/],
    ['of a picture', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), undefined, /UTF-8/],
    ['in UTF-16', Buffer.from('email\na@b.example\n', 'utf16le'), undefined, /UTF-8/],
    ['without the column', 'mail,name\na,b\n', 'email', /no column "email"; it has "mail", "name"/],
    [
      'without a column that it names',
      'a,b\n1,2\n',
      undefined,
      /name the column .* the file has "a", "b"/,
    ],
    ['of one endless line', 'x'.repeat(200_000), undefined, /no line break/],
    ['of a Zstandard archive', Buffer.from('28b52ffd', 'hex'), undefined, /Zstandard/],
    [
      'of a damaged archive',
      gzipSync('email\na@lists.example\n').subarray(0, 25),
      undefined,
      /archive/,
    ],
  ])('%s is refused, and nothing is left', async (_what, file, column, message) => {
    await expect(lists.upload(file, column ? { column } : {})).rejects.toThrow(message)
    expect(await lists.uploads.list(0)).toEqual([])
  })
})

/** Of several chunks. */
const lineCount = 450_000

test('an import of many chunks that breaks off anywhere loses no line and doubles none', async () => {
  const lines = Array.from({ length: lineCount }, (_, index) =>
    index % 10_007 === 3
      ? `broken ${index}`
      : index % 7 === 0
        ? `"p${index % (lineCount - 50_000)}@many.example"`
        : `p${index % (lineCount - 50_000)}@many.example`,
  )
  const { listId, importId } = await lists.upload(`email\n${lines.join('\n')}`)
  let left = 3
  /** Answers are lost: now and then one is thrown away, after or before ClickHouse did what was asked. */
  const flaky = new Proxy(lists.clickhouse, {
    get(target, name) {
      const method = target[name as keyof ClickHouse]
      if (name !== 'feed') return typeof method === 'function' ? method.bind(target) : method
      return async (...args: Parameters<ClickHouse['feed']>) => {
        const isLost = left > 0 && Math.random() < 0.7
        if (isLost) left--
        if (isLost && Math.random() < 0.5) throw new Error('lost before')
        const answer = await target.feed(...args)
        if (isLost) throw new Error('lost after')
        return answer
      }
    },
  })
  for (;;) {
    const counts = await runImport(
      { ...lists.deps, clickhouse: { live: flaky, test: flaky } },
      importId,
    ).catch((error: Error) => {
      expect(error.message).toMatch(/^lost /)
    })
    if (counts) {
      const valid = lines.filter((line) => !line.startsWith('broken'))
      const distinct = new Set(valid.map((line) => line.replaceAll('"', ''))).size
      expect(counts).toEqual({
        total: lines.length,
        matched: 0,
        unmatched: distinct,
        duplicate: valid.length - distinct,
        rejected: lines.length - valid.length,
      })
      break
    }
  }
  const rejected = await lists.rejectedOf(listId, importId)
  expect(rejected.map(({ line }) => line)).toEqual(
    lines.flatMap((line, index) => (line.startsWith('broken') ? [index + 2] : [])),
  )
})

test('random bytes: the counters add up to the lines, and every rejected line is there', async () => {
  const signs = [
    'a@b.example',
    '"',
    '""',
    ',',
    '\n',
    '\n',
    '\r\n',
    ' ',
    '\0',
    'x',
    '\u00e9',
    '\ufeff',
  ]
  for (let round = 0; round < 8; round++) {
    const parts = Array.from({ length: Math.floor(Math.random() * 400) }, () => {
      const pick = Math.floor(Math.random() * (signs.length + 1))
      return pick === signs.length
        ? Buffer.from([Math.floor(Math.random() * 256)])
        : Buffer.from(signs[pick]!)
    })
    const format = round % 3 === 0 ? 'ndjson' : 'csv'
    const body = Buffer.concat(parts)
    const file = Buffer.concat([
      Buffer.from(format === 'csv' ? 'a,email\n' : '"a@b.example"\n'),
      body,
    ])
    const { counts, rejected } = await lists.importFile(file, { format })
    expect(sumOf(counts as never)).toBe(counts.total)
    expect(rejected.length).toBe(counts.rejected)
    const lineCount = file.toString('latin1').split('\n').length - (file.at(-1) === 0x0a ? 1 : 0)
    const rows = format === 'csv' ? lineCount - 1 : lineCount
    // A quoted text may span lines, of NDJSON none does.
    if (format === 'ndjson' || !body.includes('"')) expect(counts.total).toBe(rows)
    else expect(counts.total).toBeLessThanOrEqual(rows)
  }
})
