/** The API client of the pages: `footfall-client` with the session of the signed-in user. */
import {
  type Answer,
  ApiError,
  createClient,
  type Key,
  type Params,
  type Session,
} from '../../api/client/index.ts'
import { session } from './session.ts'
import { shareSecret } from './shared.ts'

export type {
  Account,
  Alert,
  AuditEntry,
  Key as ApiKey,
  Member,
  Organization,
  Pixel,
  PixelActivity as Activity,
  PixelSettings as Settings,
  Project,
  ProjectActivity,
  ProjectMember,
  Session,
  SingleSignOn,
  TrackingPlan,
  UsageLimits as Limits,
} from '../../api/client/index.ts'
export { ApiError }

export type Role = Answer<'getMember'>['member']['role']
export type ProjectRole = Answer<'getProjectMember'>['project_member']['role']
export type KeyRole = Key['role']
/** Whether deleting an object also deletes its events. */
export type EventsFate = NonNullable<Params<'deleteProject'>['events']>
/** How to treat API keys whose rights exceed those of the member who made them. */
export type KeysFate = Pick<Params<'removeMember'>, 'api_keys'>
/** An object that two people may edit at once: an update names the version that it changes. */
export type Versioned = Pick<
  Answer<'getProject'>['project'],
  'version' | 'created_at' | 'updated_at'
>
/** A project as whoami lists it; owners and admins of the organization are admins of all. */
export type OwnProject = Answer<'whoAmI'>['projects'][number]
export type Webhook = Answer<'getWebhook'>['webhook']
export type VisitAlert = Answer<'getVisitAlert'>['visit_alert']
export type ApiRequest = Answer<'listRequests'>['requests'][number]
export type Integration = Answer<'getIntegration'>['integration']
export type Export = Answer<'getExport'>['export']
export type ExportRun = Answer<'getExportRun'>['run']
/** A goal of a project's analytics: its name and the filter of its events. */
export type AnalyticsGoal = Answer<'getAnalyticsGoals'>['goals'][number]
/** A named filter of a project. */
export type AnalyticsSegment = Answer<'listAnalyticsSegments'>['segments'][number]
/** A note of a project at a time. */
export type AnalyticsAnnotation = Answer<'listAnalyticsAnnotations'>['annotations'][number]
/** A funnel that a project has saved. */
export type SavedFunnel = Answer<'listAnalyticsSavedFunnels'>['funnels'][number]
export type List = Answer<'getList'>['list']
export type Archive = Answer<'getArchive'>['archive']
export type RejectedEvent = Answer<'listRejectedEvents'>['rejected_events'][number]
export type EventDeletion = Answer<'listEventDeletions'>['event_deletions'][number]
export type DailyUsage = Answer<'getDailyUsageByMeter'>['daily'][number]
/** Charges; amounts are in micros, millionths of a dollar. */
export type UsageCounts = Pick<DailyUsage, 'records' | 'free_records' | 'amount_micros'>
/** Owner and days of the usage, both inclusive. */
export type UsageQuery = { project_id?: string; start_date: string; end_date: string }
/** The budget of a calendar month. With project_id null, for the organization. */
export type Budget = Params<'setUsageLimits'>['budgets'][number]
/** Most records of a meter; null: any number. */
export type UsageLimit = Params<'setUsageLimits'>['limits'][number]

/** The organization of the page, because pages of two organizations may be open at once. */
const organizationOfPage = (): string | undefined =>
  /^\/([0-9a-f-]{36})(?:\/|$)/i.exec(location.pathname)?.[1]

/** Errors of 401 that concern the given values, not the session. */
const notOfSession = new Set(['invalid_credentials', 'second_factor_required', 'invalid_code'])

/** If the session has expired, the sign-in page replaces the current page. */
const fetchOrSignIn: typeof fetch = async (url, init) => {
  const answer = await fetch(url, init)
  if (answer.status === 401) {
    const { error } = await answer.clone().json()
    if (!notOfSession.has(error)) session.value = null
  }
  return answer
}

const clientFor = (organizationOf: () => string | undefined, fetcher = fetchOrSignIn) =>
  createClient({
    maxTries: 3,
    // The client leaves a longer wait to the user.
    maxWaitMs: 3_000,
    headers() {
      if (shareSecret.value !== null) return { authorization: `Bearer ${shareSecret.value}` }
      const organization = organizationOf()
      return { ...(organization && { 'x-organization-id': organization }) }
    },
    fetch: fetcher,
  })

export const api = clientFor(organizationOfPage)

/** For requests before the session is known: a refusal does not end it. */
export const apiBeforeSession = clientFor(organizationOfPage, (url, init) => fetch(url, init))

/**
 * Reads the session as a member of the page's organization, otherwise of the last used one; null without a
 * session.
 */
export const readSession = async (): Promise<Session | null> =>
  (await sessionOf(api)) ?? (organizationOfPage() ? sessionOf(clientFor(() => undefined)) : null)

const sessionOf = (client: typeof api): Promise<Session | null> =>
  client.getSession().catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401) return null
    throw error
  })

export const ownProjects = async (): Promise<OwnProject[]> => (await api.whoAmI()).projects

/** The message of an error for the user. */
export const messageOf = ({ status, message, retryAfterSeconds }: ApiError): string =>
  status === 429 && retryAfterSeconds !== null
    ? `${message} Try again in ${retryAfterSeconds} s.`
    : message
