import { createHash, randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { companyAt, type Graph } from '../../../collector/identity/generate/index.ts'
import { companyOfAddress } from '../../../collector/identity/store/companySql.ts'
import type { Row } from '../../harness/api.ts'
import { type IdentityStore, ndjson, openIdentityStore } from './harness.ts'

let store: IdentityStore
beforeAll(async () => {
  store = await openIdentityStore()
})
afterAll(() => store.close())
const targets = ['profiles', 'profile_rows', 'identity_links', 'companies', 'company_networks']
beforeEach(async () => {
  const filled = await store.rows<{ name: string }>(
    `SELECT name FROM system.tables
     WHERE database = currentDatabase() AND total_rows > 0 AND name IN {targets:Array(String)}`,
    { targets },
  )
  for (const { name } of filled)
    await store.clickhouse.command({ sql: `TRUNCATE TABLE ${name}`, params: {} })
})

const hemOf = (address: string) => createHash('sha256').update(address).digest('hex')
const [ann, bob] = ['a'.repeat(64), 'b'.repeat(64)] as const
const everybody = '00000000-0000-0000-0000-000000000000'

/** Loads, expects that to go well, and answers what was printed. */
async function load(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await store.identity(['load', ...args])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

async function refused(...args: string[]): Promise<string> {
  const { code, stderr } = await store.identity(['load', ...args])
  expect(code).toBe(1)
  return stderr
}

const rejectedIn = (path: string): Row[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('columns', () => {
  test('of other names are mapped; those that nobody knows are named, or left out', async () => {
    const path = store.write(
      'others.csv',
      '"E-mail, of work",First=Name,junk,more\n Ann@Example.com\t,Ann,1,2\nbob@example.com,Bob,2,3\n',
    )
    const map = ['--map', 'E-mail, of work=email,First=Name=first_name']
    expect(await refused(path, ...map)).toContain('no field is named "junk", "more"')
    expect(await store.rows('SELECT 1 FROM profiles')).toEqual([])

    expect(await load(path, ...map, '--ignore-unknown')).toMatch(/^2 rows loaded/)
    const found = 'SELECT hem, first_name FROM profiles FINAL ORDER BY first_name'
    expect(await store.rows(found)).toEqual([
      { hem: hemOf('ann@example.com'), first_name: 'Ann' },
      { hem: hemOf('bob@example.com'), first_name: 'Bob' },
    ])
  })

  test.each([
    ['a mapped column that is not there', ['--map', 'nope=hem'], 'there is no column "nope"'],
    ['a mapping to no field', ['--map', 'first_name=shoe_size'], 'must begin with column=field'],
    [
      'two columns for one field',
      ['--map', 'last_name=first_name'],
      'two columns map to first_name',
    ],
    ['no column of hems or addresses', ['--map', 'hem=maid'], 'no column maps to hem or email'],
  ])('%s is said before anything is loaded', async (_, args, message) => {
    const path = store.write('columns.csv', `hem,first_name,last_name\n${ann},Ann,A\n`)
    expect(await refused(path, ...args)).toContain(message)
    expect(await store.rows('SELECT 1 FROM profiles')).toEqual([])
  })
})

test.each([
  [
    'an unknown target',
    ['x.csv', '--into', 'people'],
    '--into must be one of profiles, links, companies, networks',
  ],
  [
    'an unknown format',
    ['x.csv', '--format', 'xml'],
    '--format must be one of csv, ndjson, parquet',
  ],
  ['an unknown option', ['x.csv', '--quick'], "Unknown option '--quick'"],
  ['no file', [], 'FILE is required'],
  ['a file that is not there', ['nowhere.csv'], 'nowhere.csv cannot be read: ENOENT'],
  ['a name that tells no format', ['stores.json.bak'], 'cannot be read'],
  [
    'an organization for what everybody sees',
    ['x.csv', '--organization', everybody],
    'requires --into links',
  ],
  [
    'an organization that is none',
    ['x.csv', '--into', 'links', '--organization', 'acme'],
    'must be a UUID',
  ],
])('%s is said in one line', async (_, args, message) => {
  const stderr = await refused(...args)
  expect(stderr).toContain(message)
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
})

describe('rows that cannot be taken', () => {
  test('of CSV go to a file with line, reason and what stood there; the others are loaded', async () => {
    const path = store.write(
      'bad.csv',
      Buffer.concat([
        Buffer.from(
          [
            'email,first_name,age,company_industry,is_donor,email_verified_at,home_latitude',
            'ann@example.com,"Ann ""the"" A",31.0,,yes,2026-01-02,-1.5',
            'bob@example.com,"Bob\nB",x,,,,',
            ',Nobody,,,,,',
            '',
            'cid@example.com,Cid,4',
            'dan@example.com,Dan,44,Basket weaving,no,,',
            'eve@example.com,NULL,45,,maybe,,',
            'fay@example.com,"Fay"x,45,,no,,',
            'gus@example.com,Gus,,,,never,',
            'hal@example.com,Hal,1e400,,,,inf',
            'not an address,Ida,,,,,',
            '',
          ].join('\n'),
        ),
        Buffer.from('jon@example.com,J\xf6n,,,,,\n', 'latin1'),
        Buffer.from('kim@example.com,Kim,,,,,\nlea@example.com,"Lea,,,,,\n'),
      ]),
    )
    const printed = await load(path)
    expect(printed).toMatch(/^2 rows loaded into profiles/)
    expect(printed).toContain(`11 rows rejected, see ${path}.rejected.ndjson`)
    expect(rejectedIn(`${path}.rejected.ndjson`).map(({ line, reason }) => [line, reason])).toEqual(
      [
        [3, 'age: "x" is not a whole number'],
        [5, 'neither hem nor email'],
        [7, '3 fields instead of 7'],
        [8, 'company_industry: "Basket weaving" is not in the field’s list'],
        [9, 'is_donor: "maybe" is not true or false'],
        [10, 'a closed quote must be followed by a separator or the line end'],
        [11, 'email_verified_at: "never" is not a time'],
        [12, 'age: "1e400" is not a whole number'],
        [13, 'email: "not an address" is not an address'],
        [14, 'not UTF-8'],
        [16, 'a quote is not closed'],
      ],
    )
    expect(rejectedIn(`${path}.rejected.ndjson`)[0]).toMatchObject({
      file: path,
      record: { email: 'bob@example.com', first_name: 'Bob\nB', age: 'x' },
    })
    expect(rejectedIn(`${path}.rejected.ndjson`)[2]).toMatchObject({
      text: 'cid@example.com,Cid,4',
    })
    const kept =
      'SELECT first_name, age, is_donor, email_verified_at, home_latitude FROM profiles FINAL ORDER BY email'
    expect(await store.rows(kept)).toEqual([
      {
        first_name: 'Ann "the" A',
        age: 31,
        is_donor: true,
        home_latitude: -1.5,
        email_verified_at: '2026-01-02T00:00:00.000Z',
      },
      {
        first_name: 'Kim',
        age: null,
        is_donor: null,
        email_verified_at: null,
        home_latitude: null,
      },
    ])
  })

  test('of NDJSON, too, and the file of a load before is not added to', async () => {
    const path = store.write(
      'bad.ndjson',
      [
        JSON.stringify({
          hem: ann.toUpperCase(),
          first_name: 'Ann',
          age: 30,
          is_donor: true,
          maid: null,
        }),
        '{"hem": "torn',
        '[]',
        JSON.stringify({ hem: ann.slice(1) }),
        JSON.stringify({ first_name: 'Nobody' }),
        '',
        JSON.stringify({ hem: bob, age: '7.5' }),
        JSON.stringify({ hem: bob, first_name: 'Bob \ud800', interests: ['a', 'b'] }),
      ].join('\n'),
    )
    const rejected = store.write('mine.ndjson', 'from before\n')
    expect(await load(path, '--rejected', rejected)).toMatch(/^2 rows loaded/)
    expect(rejectedIn(rejected).map(({ line, reason }) => [line, reason])).toEqual([
      [2, expect.stringMatching(/^not JSON: /)],
      [3, 'not a JSON object'],
      [4, `hem: "${ann.slice(1)}" is not a SHA-256 in hexadecimal digits`],
      [5, 'neither hem nor email'],
      [7, 'age: "7.5" is not a whole number'],
    ])
    const kept =
      'SELECT hem, first_name, age, is_donor, maid, interests FROM profiles FINAL ORDER BY hem'
    expect(await store.rows(kept)).toEqual([
      { hem: ann, first_name: 'Ann', age: 30, is_donor: true, maid: null, interests: null },
      {
        hem: bob,
        first_name: 'Bob \\ud800',
        age: null,
        is_donor: null,
        maid: null,
        interests: '["a","b"]',
      },
    ])
  })

  test('of Parquet have the number of their row', async () => {
    const path = store.write(
      'bad.parquet',
      await store.bytes(
        `SELECT if(number = 1, 'x', repeat('c', 64)) AS hem, number = 0 AS is_donor,
           if(number = 2, NULL, 40.0 + number) AS age FROM numbers(3) FORMAT Parquet`,
      ),
    )
    expect(await load(path)).toMatch(/^2 rows loaded/)
    expect(rejectedIn(`${path}.rejected.ndjson`)).toMatchObject([
      { line: 2, record: { hem: 'x', age: '41' } },
    ])
    // Of two rows with the same key the later one counts; null is not 0.
    const kept = 'SELECT is_donor, age FROM profiles FINAL'
    expect(await store.rows(kept)).toEqual([{ is_donor: false, age: null }])
  })

  test('when there are no others, nothing is loaded and nothing replaced', async () => {
    await load(store.write('one.ndjson', ndjson([{ hem: ann }])))
    const path = store.write('none.ndjson', ndjson([{ hem: 'x' }]))
    expect(await refused(path, '--replace')).toContain('no row is valid (1 rejected')
    expect(await store.rows('SELECT hem FROM profiles')).toEqual([{ hem: ann }])
    expect(await store.leftovers()).toEqual([])
  })

  test('are no file when there are none', async () => {
    const path = store.write('fine.ndjson', ndjson([{ hem: ann }]))
    await load(path)
    expect(existsSync(`${path}.rejected.ndjson`)).toBe(false)
  })
})

describe('links', () => {
  const stored = () =>
    store.rows(`SELECT organization_id, cookie_id, hem, source, confidence, observed_at FROM identity_links FINAL
                ORDER BY organization_id, cookie_id, hem, source`)
  const whoIs = async (organization: string, cookie: string) =>
    (
      await store.rows<{ hem: string }>(
        `SELECT lower(hex(reinterpretAsFixedString(dictGet('identity_by_cookie', 'hem_number',
           ({organization:UUID}, {cookie:UUID}))))) AS hem`,
        { organization, cookie },
      )
    )[0]!.hem

  test('are the operator’s or one organization’s, at once known to reads; what sites observed stays', async () => {
    const [acme, cookie, other] = [randomUUID(), randomUUID(), randomUUID()]
    await store.clickhouse.command({
      sql: `INSERT INTO identity_links (organization_id, cookie_id, hem, observed_at)
            VALUES ({acme:UUID}, {other:UUID}, {hem:String}, now64(3))`,
      params: { acme, other, hem: bob },
    })
    const ours = store.write(
      'ours.csv',
      `cookie_id,email,confidence\n${cookie},Ann@example.com,0.7\n`,
    )
    await load(ours, '--into', 'links')
    expect(await whoIs(everybody, cookie)).toBe(hemOf('ann@example.com'))
    expect(await whoIs(acme, cookie)).toBe('0'.repeat(64))

    const theirs = store.write('theirs.csv', `cookie_id,hem\n${cookie},${ann}\n${other},${ann}\n`)
    await load(theirs, '--into', 'links', '--organization', acme)
    expect(await whoIs(acme, cookie)).toBe(ann)
    expect(await whoIs(everybody, cookie)).toBe(hemOf('ann@example.com'))
    // Everything that was loaded for them before, and only that, goes.
    const fewer = store.write('fewer.csv', `cookie_id,hem\n${other},${ann}\n`)
    await load(fewer, '--into', 'links', '--organization', acme, '--replace')
    expect(await whoIs(acme, cookie)).toBe('0'.repeat(64))
    expect(
      (await stored()).map(({ organization_id, source }) => [organization_id, source]).sort(),
    ).toEqual(
      [
        [everybody, 'loaded'],
        [acme, 'identify'],
        [acme, 'loaded'],
      ].sort(),
    )
  })

  test('without a time are seen now, and never in the future; what was seen later stays', async () => {
    const cookie = randomUUID()
    const at = (time: string | null, confidence: number) =>
      store.write(
        'at.ndjson',
        ndjson([{ cookie_id: cookie, hem: ann, observed_at: time, confidence }]),
      )
    const before = Date.now()
    await load(at('2999-01-01', 0.5), '--into', 'links')
    const [link] = await stored()
    expect(Date.parse(link!.observed_at as string)).toBeGreaterThanOrEqual(before)
    expect(Date.parse(link!.observed_at as string)).toBeLessThanOrEqual(Date.now())
    await load(at('2026-01-01T00:00:00Z', 0.25), '--into', 'links')
    expect(await stored()).toMatchObject([{ confidence: 0.5 }])
    await load(at(null, 0.75), '--into', 'links')
    expect(await stored()).toMatchObject([{ confidence: 0.75 }])
  })

  test('with anything else than a uuid, a share from 0 to 1 and a time are rejected', async () => {
    const path = store.write(
      'bad-links.csv',
      `cookie_id,hem,confidence,observed_at\nx,${ann},,\n${randomUUID()},${ann},2,\n${randomUUID()},${ann},,soon\n${randomUUID()},${ann},,\n`,
    )
    expect(await load(path, '--into', 'links')).toMatch(/^1 rows loaded/)
    expect(rejectedIn(`${path}.rejected.ndjson`).map(({ reason }) => reason)).toEqual([
      'cookie_id: "x" is not a UUID',
      'confidence: "2" is not a number from 0 to 1',
      'observed_at: "soon" is not a time',
    ])
  })
})

describe('companies', () => {
  const graph: Graph = { seed: 5, companies: 20 }
  const companies = Array.from({ length: 20 }, (_, index) => companyAt(graph, index))

  test('complete profiles field by field, by company_domain or the domain of any address', async () => {
    const path = store.write('companies.ndjson', ndjson(companies))
    expect(await load(path, '--into', 'companies')).toMatch(/^20 rows loaded into companies/)
    const [first] = companies
    const people = [
      {
        hem: ann,
        business_email: `Ann@${String(first!.company_domain).toUpperCase()}`,
        job_title: 'Potter',
      },
      { hem: bob, business_email: `bob@${first!.company_domain}`, company_name: 'His Own' },
      { hem: 'c'.repeat(64), business_email: 'cid@unknown.example' },
      { hem: 'd'.repeat(64), company_domain: `WWW.${first!.company_domain}`, company_city: 'Ulm' },
      { hem: 'e'.repeat(64), personal_email: `eve@${first!.company_domain}` },
      {
        hem: 'f'.repeat(64),
        email: 'fay@unknown.example',
        additional_emails: `fay@gmail.com, fay@${first!.company_domain}`,
      },
      // The named company counts, also if it is unknown.
      {
        hem: '1'.repeat(64),
        company_domain: 'unknown.example',
        email: `gus@${first!.company_domain}`,
      },
    ]
    await load(
      store.write('providers.ndjson', ndjson([{ company_domain: 'gmail.com', company_name: 'G' }])),
      '--into',
      'companies',
    )
    expect(await load(store.write('people.ndjson', ndjson(people)))).toMatch(/^7 rows loaded/)
    const columns = Object.keys(first!).join(', ')
    const of = async (hem: string) =>
      (
        await store.rows(`SELECT ${columns} FROM profiles FINAL WHERE hem = {hem:String}`, { hem })
      )[0]
    expect(await of(ann)).toEqual(first)
    expect(await of(bob)).toEqual({ ...first, company_name: 'His Own' })
    expect(await of('d'.repeat(64))).toEqual({ ...first, company_city: 'Ulm' })
    expect(await of('e'.repeat(64))).toEqual(first)
    expect(await of('f'.repeat(64))).toEqual(first)
    expect(await of('1'.repeat(64))).toMatchObject({
      company_name: null,
      company_domain: 'unknown.example',
    })
    expect(await of('c'.repeat(64))).toMatchObject({ company_name: null, company_domain: null })
    const job = 'SELECT job_title FROM profiles FINAL WHERE hem = {hem:String}'
    expect(await store.rows(job, { hem: ann })).toEqual([{ job_title: 'Potter' }])
    // So do the rows that pages are made of.
    const [row] = await store.rows<{ profile: string }>(
      `SELECT dictGet('profile_by_hem', 'profile', reinterpretAsUInt64(unhex({start:String}))) AS profile`,
      { start: 'a'.repeat(16) },
    )
    expect(JSON.parse(`{${row!.profile.slice(1)}}`)).toMatchObject({
      ...first,
      job_title: 'Potter',
    })
  })

  test('are found by an address in the smallest network around it', async () => {
    const path = store.write(
      'networks.csv',
      `network,company_domain
10.0.0.0/8,www.Large.example
10.1.0.0/16,small.example
192.0.2.7,one.example
2001:DB8::/32,six.example
10.0.0.0/40,wrong.example
nowhere,wrong.example
10.9.0.0/16,not a domain
`,
    )
    expect(await load(path, '--into', 'networks')).toMatch(/^4 rows loaded into company_networks/)
    expect(rejectedIn(`${path}.rejected.ndjson`).map(({ reason }) => reason)).toEqual([
      'network: "10.0.0.0/40" is not a network in CIDR notation',
      'network: "nowhere" is not a network in CIDR notation',
      'company_domain: "not a domain" is not a domain',
    ])
    const of = async (address: string) =>
      (
        await store.rows<{ domain: string }>(
          `SELECT ${companyOfAddress('{address:String}')} AS domain`,
          {
            address,
          },
        )
      )[0]!.domain
    expect(await of('10.2.3.4')).toBe('large.example')
    expect(await of('10.1.3.4')).toBe('small.example')
    expect(await of('::ffff:10.1.3.4')).toBe('small.example')
    expect(await of('192.0.2.7')).toBe('one.example')
    expect(await of('192.0.2.8')).toBe('')
    expect(await of('2001:db8:1::1')).toBe('six.example')
    expect(await of('2001:db9::1')).toBe('')
    expect(await of('nonsense')).toBe('')
  })
})

test('a made-up graph loads without a rejected row, the same from the same seed', async () => {
  const make = (directory: string, seed: string) =>
    store.runLine([
      'identity',
      'generate',
      '--out',
      directory,
      '--profiles',
      '30',
      '--cookies',
      '70',
      '--companies',
      '5',
      '--seed',
      seed,
    ])
  const { code, stdout } = await make('graph', '9')
  expect(code).toBe(0)
  const commands = stdout.trimEnd().split('\n')
  expect(commands).toHaveLength(4)
  const printed: string[] = []
  const [first, ...others] = commands.map((command) => command.split(' '))
  printed.push((await store.runLine(first!.slice(2))).stdout)
  for (const words of others) printed.push(await load(...words.slice(4)))
  expect(printed.join('')).not.toContain('rejected')
  expect(
    await store.rows(`SELECT (SELECT count() FROM profiles FINAL) AS profiles, (SELECT count() FROM companies FINAL) AS companies,
      (SELECT count() FROM identity_links FINAL) AS links, (SELECT count() FROM company_networks FINAL) AS networks`),
  ).toEqual([{ profiles: 30, companies: 5, links: 70, networks: 5 }])
  await make('again', '9')
  await make('other', '10')
  const linesOf = (directory: string) =>
    readFileSync(`${store.directory}/${directory}/links.ndjson`, 'utf8')
  expect(linesOf('again')).toBe(linesOf('graph'))
  expect(linesOf('other')).not.toBe(linesOf('graph'))
})
