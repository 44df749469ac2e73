import { randomUUID } from 'node:crypto'
import pg from 'pg'
import {
  type ApiCredentials,
  newApiCredentials,
  storeApiKey,
} from '../../../collector/accounts/keys/apiKeys.ts'
import type { KeyRole } from '../../../collector/api/access/principal.ts'
import type { AppSettings } from '../../harness/backend.ts'
import { storeOrganization, storePixel, storeProject } from '../../harness/owners.ts'
import type { Answering } from '../../harness/service.ts'
import { openTenant } from '../../harness/sharedApp.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are read as a client without our types would.
export type Json = any

/** How somebody asks: the headers that say who they are. */
export type Caller = Record<string, string>

export interface Answer {
  status: number
  body: Json
  headers: Headers
}

export const nobody: Caller = {}

const byKey = ({ apiKey, apiSecret }: ApiCredentials): Caller => ({
  'x-api-key': apiKey,
  'x-api-secret': apiSecret,
})

export const password = 'a long enough password'

/** What accounts are tried in: the app of all files, or with settings one or two of their own. */
export interface AccountSettings extends AppSettings {
  /** Two answer alternately, as two processes do that know nothing of each other; default: one. */
  apps?: 1 | 2
}

/** An organization and what its members and keys do. Nothing limits how often a test may ask. */
export async function openAccounts({ apps = 1, ...own }: AccountSettings = {}) {
  const { service: first, env, mail } = await openTenant(own)
  const twin = apps === 2 ? await openTenant(twinOf(own, first.url)) : null
  const service: Answering = {
    ...first,
    output: () => first.output() + (twin?.service.output() ?? ''),
  }
  const urls = [service.url, ...(twin ? [twin.service.url] : [])]
  const databaseUrl = env.DATABASE_URL!
  const clickhouseDatabase = env.CLICKHOUSE_DATABASE!
  const postgres = new pg.Pool({ connectionString: databaseUrl })
  const { demo, url } = service

  let asked = 0
  const nextUrl = () => urls[asked++ % urls.length]!

  /** Calls `PUT /api/v1/project/update` and similar routes; paths may have a query. */
  const ask = async (caller: Caller, route: string, body?: unknown): Promise<Answer> => {
    const [method, path] = route.split(' ') as [string, string]
    const answer = await fetch(`${nextUrl()}${path}`, {
      method,
      headers: { ...caller, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return {
      status: answer.status,
      headers: answer.headers,
      body: text === '' ? null : JSON.parse(text),
    }
  }

  /** Asks and expects it to be done; the error tells what came instead. */
  const done = async (caller: Caller, route: string, body?: unknown): Promise<Json> => {
    const answer = await ask(caller, route, body)
    if (answer.status >= 300)
      throw new Error(`${route}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  /** The headers that a browser sends for a page of the dashboard after this answer. */
  const sessionOf = ({ headers }: Answer): Caller => ({
    cookie: headers.getSetCookie()[0]!.split(';')[0]!,
    origin: url,
  })

  const signIn = async (email: string, withPassword: string): Promise<Caller> => {
    const answer = await ask(nobody, 'POST /dashboard/session', { email, password: withPassword })
    if (answer.status !== 200) throw new Error(`sign-in: ${answer.status}`)
    return sessionOf(answer)
  }

  const owner = await signIn(demo.admin_email, demo.admin_password)

  /** The token of an invitation: in the mail where one was sent, otherwise in the answer. */
  const invitationToken = async ({ member, invitation_url }: Json): Promise<string> => {
    const mailed = own.sendsMail && (await mail.mailTo(member.email, `${url}/invitation/`))
    const link = mailed
      ? /\/invitation\/[\w-]{43}/.exec(mailed.text)![0]
      : (invitation_url as string)
    return link.split('/').at(-1)!
  }

  /** A new member who has accepted: who they are, and how they ask. */
  const join = async (
    role: 'owner' | 'admin' | 'member',
    projects: { project_id: string; role: 'admin' | 'member' }[] = [],
  ) => {
    const email = `${randomUUID()}@example.com`
    const invited = await done(owner, 'POST /api/v1/organization/user/create', {
      email,
      role,
      projects,
    })
    const token = await invitationToken(invited)
    const accepted = await ask(nobody, `POST /dashboard/invitation/${token}`, {
      name: 'Somebody',
      password,
    })
    return { memberId: invited.member.member_id as string, email, session: sessionOf(accepted) }
  }

  /** A key, made as the dashboard makes it. */
  const makeKey = async (
    project_id: string | null = null,
    mode: 'live' | 'test' = 'live',
    { by = owner, role }: { by?: Caller; role?: KeyRole } = {},
  ): Promise<Caller> => {
    const { api_key, api_secret } = await done(by, 'POST /dashboard/keys', {
      name: 'k',
      mode,
      project_id,
      role,
    })
    return { 'x-api-key': api_key, 'x-api-secret': api_secret }
  }

  const makeProject = async (name = 'A project'): Promise<string> =>
    (await done(owner, 'POST /api/v1/project/create', { name })).project.project_id

  const makePixel = async (project_id: string, more: object = {}): Promise<string> =>
    (await done(owner, 'POST /api/v1/pixel/create', { project_id, name: 'A pixel', ...more })).pixel
      .pixel_id

  /** Another organization with one of everything, and its key. */
  const openStranger = async () => {
    const ids = {
      organization: randomUUID(),
      project: randomUUID(),
      pixel: randomUUID(),
      member: randomUUID(),
    }
    const credentials = newApiCredentials('live')
    await storeOrganization(postgres, ids.organization, 'Strangers')
    await storeProject(postgres, ids.project, ids.organization, 'Their project')
    await storePixel(postgres, ids.pixel, ids.project, 'Their pixel')
    await postgres.query(
      `INSERT INTO members (member_id, organization_id, email, role) VALUES ($1, $2, $3, 'owner')`,
      [ids.member, ids.organization, `${ids.member}@strangers.example`],
    )
    const holder = { organizationId: ids.organization, projectId: null }
    await storeApiKey(postgres, holder, 'live', 'Their key', credentials)
    return { ...ids, key: byKey(credentials) }
  }

  return {
    service,
    demo,
    postgres,
    databaseUrl,
    clickhouseDatabase,
    mail,
    url,
    /** Of the app that answers next. */
    nextUrl,
    owner,
    ask,
    done,
    sessionOf,
    signIn,
    invitationToken,
    join,
    makeKey,
    makeProject,
    makePixel,
    openStranger,
    key: { 'x-api-key': demo.api_key, 'x-api-secret': demo.api_secret } as Caller,
    testKey: { 'x-api-key': demo.test_api_key, 'x-api-secret': demo.test_api_secret } as Caller,
    async close() {
      await postgres.end()
      await service.stop()
      await twin?.service.stop()
    },
  }
}

const twinOf = (settings: AppSettings, publicUrl: string): AppSettings => ({
  ...settings,
  env: { ...settings.env, FOOTFALL_PUBLIC_URL: publicUrl },
})

export type Accounts = Awaited<ReturnType<typeof openAccounts>>
