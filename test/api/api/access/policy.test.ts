/** The access policy as a table: caller × resource × action × project, each with the policy's answer. */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Action,
  audienceProjectOf,
  audienceScopeOf,
  createRecordScopeOf,
  createScopeOf,
  projectFor,
  type Resource,
} from '../../../../collector/api/access/policy.ts'
import type { Principal } from '../../../../collector/api/access/principal.ts'
import { ApiError } from '../../../../collector/api/http/errors.ts'
import { newPostgresDatabase } from '../../../harness/databases.ts'

const organizationId = randomUUID()
/** Two projects of the organization, and one of another. */
const projects = { a: randomUUID(), b: randomUUID(), foreign: randomUUID() }
type Asked = keyof typeof projects | 'none'
const memberIds = { adminOfA: randomUUID(), memberOfA: randomUUID(), ofNone: randomUUID() }

let postgres: pg.Pool
beforeAll(async () => {
  postgres = new pg.Pool({ connectionString: await newPostgresDatabase() })
  const stranger = randomUUID()
  await postgres.query(
    `INSERT INTO organizations (organization_id, name) VALUES ($1, 'Ours'), ($2, 'Theirs')`,
    [organizationId, stranger],
  )
  await postgres.query(
    `INSERT INTO projects (project_id, organization_id, name)
     VALUES ($1, $4, 'A'), ($2, $4, 'B'), ($3, $5, 'C')`,
    [projects.a, projects.b, projects.foreign, organizationId, stranger],
  )
  for (const [name, memberId] of Object.entries(memberIds)) {
    const userId = randomUUID()
    await postgres.query(`INSERT INTO users (user_id, email, password_hash) VALUES ($1, $2, '')`, [
      userId,
      `${name.toLowerCase()}@example.com`,
    ])
    await postgres.query(
      `INSERT INTO members (member_id, organization_id, user_id, email, role)
       SELECT $1, $2, user_id, email, 'member' FROM users WHERE user_id = $3`,
      [memberId, organizationId, userId],
    )
  }
  await postgres.query(
    `INSERT INTO project_members (project_id, member_id, role) VALUES ($1, $2, 'admin'), ($1, $3, 'member')`,
    [projects.a, memberIds.adminOfA, memberIds.memberOfA],
  )
})
afterAll(() => postgres.end())

const principal = (caller: Principal['caller'], projectId: string | null = null): Principal => ({
  organizationId,
  projectId,
  mode: 'live',
  caller,
})
const key = (projectId: string | null) =>
  principal({ kind: 'key', keyId: randomUUID(), role: 'write' }, projectId)
const member = (memberId: string, role: 'owner' | 'admin' | 'member' = 'member') =>
  principal({ kind: 'member', memberId, role })
const callers = {
  owner: member(randomUUID(), 'owner'),
  admin: member(randomUUID(), 'admin'),
  'admin of A': member(memberIds.adminOfA),
  'member of A': member(memberIds.memberOfA),
  'member of no project': member(memberIds.ofNone),
  'key of the organization': key(null),
  'key of A': key(projects.a),
  'share link of A': principal(
    { kind: 'share', shareId: randomUUID(), pixelId: null, filter: null, hasGoals: false },
    projects.a,
  ),
}
type Caller = keyof typeof callers

/** The result of a decision: 'allowed', or the status and the error of the refusal. */
async function outcomeOf(decide: () => Promise<unknown>): Promise<string> {
  try {
    await decide()
    return 'allowed'
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${error.error}`
    throw error
  }
}

const actions: readonly Action[] = ['read', 'identity', 'write']
const missing = '400 invalid_parameter'
const unknown = '404 project not found'
const forbidden = '403 forbidden'
const all = (outcome: string) => [outcome, outcome, outcome] as const
type Outcomes = readonly [read: string, identity: string, write: string]

/** By what callers name; of each the outcomes of read, identity and write. The same for every resource. */
const byRole: Record<Exclude<Caller, 'key of A'>, Record<Asked, Outcomes>> = {
  owner: { a: all('allowed'), b: all('allowed'), foreign: all(unknown), none: all(missing) },
  admin: { a: all('allowed'), b: all('allowed'), foreign: all(unknown), none: all(missing) },
  'admin of A': { a: all('allowed'), b: all(unknown), foreign: all(unknown), none: all(missing) },
  'member of A': {
    a: ['allowed', forbidden, forbidden],
    b: all(unknown),
    foreign: all(unknown),
    none: all(missing),
  },
  'member of no project': {
    a: all(unknown),
    b: all(unknown),
    foreign: all(unknown),
    none: all(missing),
  },
  'key of the organization': {
    a: all('allowed'),
    b: all('allowed'),
    foreign: all(unknown),
    none: all(missing),
  },
  'share link of A': {
    a: all(forbidden),
    b: all(forbidden),
    foreign: all(forbidden),
    none: all(forbidden),
  },
}

/** The answer to a project key about another project depends on the resource (spec: Project key). */
const ofOtherProject: Record<Resource, string> = {
  events: unknown,
  records: '403 project_id does not match API key scope',
  audiences: '403 access denied',
  administration: '401 Invalid API key',
}
const resources = Object.keys(ofOtherProject) as Resource[]
const idOf = (asked: Asked) => (asked === 'none' ? undefined : projects[asked])

describe.each(resources)('%s', (resource) => {
  const other = ofOtherProject[resource]
  const ofKey = { a: all('allowed'), b: all(other), foreign: all(other), none: all('allowed') }
  const table = Object.entries({ ...byRole, 'key of A': ofKey }).flatMap(([caller, asked]) =>
    Object.entries(asked).flatMap(([project, outcomes]) =>
      actions.map((action, index) => ({ caller, project, action, outcome: outcomes[index] })),
    ),
  )
  test.each(table)('$caller, $action, project $project: $outcome', async (row) => {
    const decide = () =>
      projectFor(
        postgres,
        callers[row.caller as Caller],
        resource,
        idOf(row.project as Asked),
        row.action,
      )
    expect(await outcomeOf(decide)).toBe(row.outcome)
  })
})

describe('which rows a request may touch', () => {
  const rows: [Caller, Asked, { events: string; records: string; audiences: string }][] = [
    ['owner', 'none', { events: 'all', records: 'all', audiences: 'all' }],
    ['owner', 'a', { events: 'a', records: 'a', audiences: 'a' }],
    ['owner', 'foreign', { events: unknown, records: unknown, audiences: unknown }],
    ['admin of A', 'none', { events: missing, records: 'a', audiences: missing }],
    ['admin of A', 'b', { events: unknown, records: unknown, audiences: unknown }],
    ['member of A', 'none', { events: missing, records: 'a', audiences: missing }],
    ['member of A', 'a', { events: 'a', records: 'a', audiences: 'a' }],
    ['member of no project', 'none', { events: missing, records: '', audiences: missing }],
    ['member of no project', 'a', { events: unknown, records: unknown, audiences: unknown }],
    ['key of the organization', 'none', { events: 'all', records: 'all', audiences: 'all' }],
    ['key of the organization', 'b', { events: 'b', records: 'b', audiences: 'b' }],
    ['key of A', 'none', { events: 'a', records: 'a', audiences: missing }],
    ['key of A', 'a', { events: 'a', records: 'a', audiences: 'a' }],
    [
      'key of A',
      'b',
      {
        events: ofOtherProject.events,
        records: ofOtherProject.records,
        audiences: ofOtherProject.audiences,
      },
    ],
    ['share link of A', 'none', { events: 'a', records: forbidden, audiences: missing }],
    ['share link of A', 'b', { events: unknown, records: forbidden, audiences: forbidden }],
  ]
  const nameOf = (id: string) => Object.entries(projects).find(([, each]) => each === id)![0]
  const namesOf = (ids: readonly string[] | null) => (ids ? ids.map(nameOf).join(' ') : 'all')
  /** The projects of a scope, or the refusal. */
  const shown = async (decide: () => Promise<readonly string[] | null>) => {
    let ids: readonly string[] | null = []
    const outcome = await outcomeOf(async () => {
      ids = await decide()
    })
    return outcome === 'allowed' ? namesOf(ids) : outcome
  }
  const one = (id: string | null) => (id === null ? null : [id])

  test.each(rows)('%s who names %s', async (caller, asked, expected) => {
    const who = callers[caller]
    const projectId = idOf(asked)
    const request = { principal: who, query: { project_id: projectId } }
    expect({
      events: await shown(async () =>
        one((await createScopeOf(postgres)(who, { projectId })).projectId),
      ),
      records: await shown(
        async () => (await createRecordScopeOf(postgres)(who, projectId)).projectIds,
      ),
      audiences: await shown(async () => one((await audienceScopeOf(postgres, request)).projectId)),
    }).toEqual(expected)
  })

  test('who visitors are: 403 for a plain member and for whoever has a share link', async () => {
    for (const caller of ['member of A', 'share link of A'] as const) {
      const scope = () =>
        createScopeOf(postgres)(callers[caller], { projectId: projects.a }, 'identity')
      expect([caller, await outcomeOf(scope)]).toEqual([caller, forbidden])
    }
  })

  test('a project is named once, in the query or in the body: 400 where the two differ', async () => {
    const named = (query?: string, body?: string) =>
      outcomeOf(() =>
        audienceProjectOf(
          postgres,
          {
            principal: callers.owner,
            query: { project_id: query },
            body: { project_id: body },
          },
          'read',
        ),
      )
    expect(await named(projects.a, projects.a)).toBe('allowed')
    expect(await named(projects.a, projects.b)).toBe(missing)
  })
})
