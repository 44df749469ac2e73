/** The calls the pages make, and what they answer. */
import type { CollectorSettings, PixelSettings } from '../../../schemas/beacon.ts'
import { ApiError, call, list, organizationOfPage } from './http.ts'

export type Role = 'owner' | 'admin' | 'member'
export type KeyRole = 'read' | 'write' | 'admin' | 'owner'
export type ProjectRole = 'admin' | 'member'
export type Settings = PixelSettings & CollectorSettings
/** What becomes of the events of something deleted. */
export type EventsFate = 'delete' | 'keep'

/** What becomes of the keys that a member has made who may no longer what these may. */
export interface KeysFate {
  api_keys?: 'revoke' | 'hand_over'
}

export interface Session {
  member: { member_id: string; email: string; name: string | null; role: Role }
  organization: { organization_id: string; name: string }
  /** All that they are a member of. */
  organizations: { organization_id: string; name: string }[]
}

/** What two people may edit at once: an update says which version it changes. */
export interface Versioned {
  version: number
  created_at: string
  updated_at: string
}

export interface Organization extends Versioned {
  organization_id: string
  name: string
  secret_required: boolean
}

export interface Member extends Versioned {
  member_id: string
  email: string
  name: string | null
  role: Role
  status: 'active' | 'invited'
  projects: { project_id: string; role: ProjectRole }[]
}

export interface Project extends Versioned {
  project_id: string
  organization_id: string
  name: string
}

export interface ProjectMember {
  project_id: string
  member_id: string
  email: string
  name: string | null
  role: ProjectRole
  created_at: string
}

export interface Pixel extends Versioned {
  pixel_id: string
  project_id: string
  name: string
  active: boolean
  allowed_origins: string[]
  settings: Settings
  script_url: string
  snippet: string
}

/** Those that are valid, the newest first. */
export interface IdentifySecrets {
  pixel_id: string
  secrets: { version: number; secret: string }[]
}

export interface Activity {
  pixel_id: string
  first_event_at: string | null
  last_event_at: string | null
  events_last_24h: number
  rejected_last_24h: number
  last_rejection: { at: string; path: string; message: string } | null
  last_refusal: { at: string; error: string; message: string } | null
}

/** A project as whoami lists it; owners and admins of the organization are admins of all. */
export interface OwnProject {
  project_id: string
  name: string
  role: ProjectRole
}

export interface ApiKey {
  key_id: string
  name: string
  key_prefix: string
  scope: 'organization' | 'project'
  project_id: string | null
  mode: 'live' | 'test'
  created_at: string
  role: KeyRole
  created_by: string | null
  created_by_member_id: string | null
  last_used_at: string | null
}

export interface NewApiKey {
  key: ApiKey
  api_key: string
  api_secret: string
}

export interface AuditEntry {
  entry_id: string
  at: string
  actor: { kind: string; id: string; name: string }
  action: string
  object_kind: string
  object_id: string
  details: Record<string, unknown>
}

export interface Invitation {
  email: string
  organization: { name: string }
}

/** What was charged; amounts are in micros, millionths of a dollar. */
export interface UsageCounts {
  records: number
  free_records: number
  amount_micros: number
}

export interface DailyUsage extends UsageCounts {
  /** YYYY-MM-DD, UTC. */
  date: string
  meter: string
}

/** Whose usage, and of which days, both inclusive. */
export interface UsageQuery {
  project_id?: string
  start_date: string
  end_date: string
}

/** What a calendar month may cost; project_id null: for the whole organization. */
export interface Budget {
  project_id: string | null
  monthly_micros: number
}

/** Most records of a meter; null: any number. */
export interface UsageLimit {
  meter: string
  daily_records: number | null
  monthly_records: number | null
}

export interface Limits {
  shut_off: boolean
  budgets: (Budget & { spent_micros: number })[]
  limits: (UsageLimit & { used_today: number; used_this_month: number })[]
}

/** The version that an update was made from; a stale one is answered 409 "conflict". */
type Changed<T> = Partial<T> & { version: number }

const v1 = '/api/v1'

export const api = {
  session: {
    /** As a member of the page's organization, else of the one last used; null when nobody is signed in. */
    read: async () => (await readSession()) ?? (organizationOfPage() ? readSession(null) : null),
    turnTo: (organization_id: string) => call<Session>('PUT', '/dashboard/session', { organization_id }),
    create: (email: string, password: string) =>
      call<Session>('POST', '/dashboard/session', { email, password }),
    end: () => call<void>('DELETE', '/dashboard/session'),
  },
  invitation: {
    read: (token: string) => call<Invitation>('GET', `/dashboard/invitation/${encodeURIComponent(token)}`),
    /** Without a name and a password for whoever is signed in by the invited address. */
    accept: (token: string, person: { name?: string; password?: string }) =>
      call<Session>('POST', `/dashboard/invitation/${encodeURIComponent(token)}`, person),
  },
  passwordReset: {
    /** Whether the service sends mail. */
    ask: (email: string) => call<{ by_mail: boolean }>('POST', '/dashboard/password-reset', { email }),
    read: (token: string) =>
      call<{ email: string }>('GET', `/dashboard/password-reset/${encodeURIComponent(token)}`),
    use: (token: string, password: string) =>
      call<void>('POST', `/dashboard/password-reset/${encodeURIComponent(token)}`, { password }),
  },
  password: {
    change: (current_password: string, new_password: string) =>
      call<void>('PUT', '/dashboard/password', { current_password, new_password }),
  },
  keys: {
    list: () => call<{ keys: ApiKey[] }>('GET', '/dashboard/keys').then(({ keys }) => keys),
    create: (key: { name: string; mode: 'live' | 'test'; project_id: string | null; role?: KeyRole }) =>
      call<NewApiKey>('POST', '/dashboard/keys', key),
    revoke: (keyId: string) => call<void>('DELETE', `/dashboard/keys/${keyId}`),
  },
  audit: {
    list: (cursor?: string) => list<AuditEntry>('/dashboard/audit', 'entries', { cursor }),
  },
  usage: {
    daily: (query: UsageQuery) =>
      call<{ daily: DailyUsage[] }>(
        'GET',
        `${v1}/billing/usage/daily-by-meter?${new URLSearchParams({ ...query })}`,
      ).then(pick('daily')),
  },
  limits: {
    read: () => call<Limits>('GET', `${v1}/billing/limits`),
    replace: (all: { budgets: Budget[]; limits: UsageLimit[] }) =>
      call<Limits>('PUT', `${v1}/billing/limits`, all),
  },
  ownProjects: () => call<{ projects: OwnProject[] }>('GET', `${v1}/whoami`).then(({ projects }) => projects),
  organization: {
    read: () => call<{ organization: Organization }>('GET', `${v1}/organization`).then(pick('organization')),
    update: (changes: Changed<Pick<Organization, 'name' | 'secret_required'>>) =>
      call<{ organization: Organization }>('PUT', `${v1}/organization`, changes).then(pick('organization')),
    delete: (confirm: string, events: EventsFate) =>
      call<unknown>('DELETE', `${v1}/organization`, { confirm, events }),
  },
  member: {
    list: (cursor?: string) => list<Member>(`${v1}/organization/user/list`, 'members', { cursor }),
    invite: (member: Pick<Member, 'email' | 'role' | 'projects'>) =>
      call<{ member: Member; invitation_url: string }>('POST', `${v1}/organization/user/create`, member),
    update: (changes: { member_id: string } & KeysFate & Changed<Pick<Member, 'role' | 'name'>>) =>
      call<{ member: Member }>('PUT', `${v1}/organization/user/update`, changes).then(pick('member')),
    renewInvitation: (member_id: string) =>
      call<{ member: Member; invitation_url: string }>('PUT', `${v1}/organization/user/update`, {
        member_id,
        renew_invitation: true,
      }),
    delete: (member: { member_id: string } & KeysFate) =>
      call<unknown>('DELETE', `${v1}/organization/user/delete`, member),
  },
  project: {
    list: (cursor?: string) => list<Project>(`${v1}/project/list`, 'projects', { cursor }),
    read: (id: string) =>
      call<{ project: Project }>('GET', `${v1}/project/retrieve/${id}`).then(pick('project')),
    create: (name: string) =>
      call<{ project: Project }>('POST', `${v1}/project/create`, { name }).then(pick('project')),
    update: (changes: { project_id: string } & Changed<Pick<Project, 'name'>>) =>
      call<{ project: Project }>('PUT', `${v1}/project/update`, changes).then(pick('project')),
    delete: (project_id: string, events: EventsFate) =>
      call<unknown>('DELETE', `${v1}/project/delete`, { project_id, events }),
  },
  projectMember: {
    list: (project_id: string, cursor?: string) =>
      list<ProjectMember>(`${v1}/project/user/list`, 'project_members', { project_id, cursor }),
    add: (member: { project_id: string; email: string; role: ProjectRole }) =>
      call<unknown>('POST', `${v1}/project/user/create`, member),
    update: (member: Pick<ProjectMember, 'project_id' | 'member_id' | 'role'> & KeysFate) =>
      call<unknown>('PUT', `${v1}/project/user/update`, member),
    remove: (member: Pick<ProjectMember, 'project_id' | 'member_id'> & KeysFate) =>
      call<unknown>('DELETE', `${v1}/project/user/delete`, member),
  },
  pixel: {
    list: (project_id: string, cursor?: string) =>
      list<Pixel>(`${v1}/pixel/list`, 'pixels', { project_id, cursor }),
    read: (id: string) => call<{ pixel: Pixel }>('GET', `${v1}/pixel/retrieve/${id}`).then(pick('pixel')),
    create: (pixel: { project_id: string; name: string; allowed_origins: string[] }) =>
      call<{ pixel: Pixel }>('POST', `${v1}/pixel/create`, pixel).then(pick('pixel')),
    update: (
      changes: { pixel_id: string } & Changed<
        Pick<Pixel, 'name' | 'active' | 'allowed_origins' | 'settings'>
      >,
    ) => call<{ pixel: Pixel }>('PUT', `${v1}/pixel/update`, changes).then(pick('pixel')),
    delete: (pixel_id: string, events: EventsFate) =>
      call<unknown>('DELETE', `${v1}/pixel/delete`, { pixel_id, events }),
    activity: (id: string) => call<Activity>('GET', `${v1}/pixel/activity/${id}`),
    identifySecrets: {
      read: (id: string) => call<IdentifySecrets>('GET', `${v1}/pixel/identify-secrets/${id}`),
      rotate: (pixel_id: string) =>
        call<IdentifySecrets>('POST', `${v1}/pixel/identify-secrets/rotate`, { pixel_id }),
      retire: (pixel_id: string) =>
        call<IdentifySecrets>('POST', `${v1}/pixel/identify-secrets/retire`, { pixel_id }),
    },
  },
}

const readSession = (organization?: null): Promise<Session | null> =>
  call<Session>('GET', '/dashboard/session', undefined, organization).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401) return null
    throw error
  })

function pick<K extends string>(key: K) {
  return <T>(answer: Record<K, T>): T => answer[key]
}
