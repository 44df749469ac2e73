/**
 * All pages of an organization, in the order of the navigation. Each is its own chunk, and a new page is one
 * line here. Navigation, Ctrl-K and shortcuts read these lists.
 */
import type { Session } from './api.ts'
import { type LazyPage, lazyPage } from './lazyPage.tsx'
import { match } from './router.tsx'
import { isOrganizationAdmin } from './session.ts'

/** The parts of a project's navigation, in order. */
export const projectGroups = ['Analyze', 'Activate', 'Project settings'] as const
export type ProjectGroup = (typeof projectGroups)[number]

export interface Place {
  /** Path below the organization or the project; a page gets the values of `:names` as properties. */
  path: string
  /** Label in the navigation. Absent: only other pages link to it. */
  name?: string
  /** The part of the project's navigation that contains it. */
  group?: ProjectGroup
  /** The key that opens it after `g`. */
  key?: string
  /** Whether it has a view (view/view.ts), which navigation preserves. */
  hasView?: true
  /** Whether only owners and admins of the organization see it. */
  isForAdmins?: true
  /** Whether only operators of the service see it. */
  isForOperators?: true
  page: LazyPage<never>
}

/** Pages with paths below the organization. */
const organizationPlaces: readonly Place[] = [
  {
    path: 'projects',
    name: 'Projects',
    key: 'p',
    page: lazyPage(() => import('./pages/projects.tsx').then(({ Projects }) => Projects)),
  },
  {
    path: 'members',
    name: 'Members',
    key: 'm',
    page: lazyPage(() => import('./pages/members.tsx').then(({ Members }) => Members)),
  },
  {
    path: 'usage',
    name: 'Usage',
    key: 'u',
    page: lazyPage(() => import('./pages/usage/usage.tsx').then(({ Usage }) => Usage)),
  },
  {
    path: 'developers/requests',
    name: 'Requests',
    key: 'q',
    page: lazyPage(() =>
      import('./pages/developers/requests.tsx').then(({ Requests }) => Requests),
    ),
  },
  {
    path: 'developers/explorer',
    name: 'API explorer',
    page: lazyPage(() =>
      import('./pages/developers/explorer.tsx').then(({ Explorer }) => Explorer),
    ),
  },
  {
    path: 'developers/samples',
    name: 'Code samples',
    page: lazyPage(() => import('./pages/developers/samples.tsx').then(({ Samples }) => Samples)),
  },
  {
    path: 'settings/api-keys',
    name: 'API keys',
    key: 'k',
    page: lazyPage(() => import('./pages/apiKeys.tsx').then(({ ApiKeys }) => ApiKeys)),
  },
  {
    path: 'settings/organization',
    name: 'Organization',
    page: lazyPage(() =>
      import('./pages/organization.tsx').then(({ OrganizationSettings }) => OrganizationSettings),
    ),
  },
  {
    path: 'settings/single-sign-on',
    name: 'Single sign-on',
    isForAdmins: true,
    page: lazyPage(() =>
      import('./pages/singleSignOn.tsx').then(({ SingleSignOnPage }) => SingleSignOnPage),
    ),
  },
  {
    path: 'privacy',
    name: 'Privacy',
    isForAdmins: true,
    page: lazyPage(() => import('./pages/privacy/privacy.tsx').then(({ Privacy }) => Privacy)),
  },
  {
    path: 'settings/audit',
    name: 'Audit log',
    isForAdmins: true,
    page: lazyPage(() => import('./pages/auditLog.tsx').then(({ AuditLog }) => AuditLog)),
  },
  {
    path: 'operator',
    name: 'Operator',
    isForOperators: true,
    page: lazyPage(() => import('./pages/operator/operator.tsx').then(({ Operator }) => Operator)),
  },
]

/** Returns the organization's pages that the member may open. */
export const placesFor = (session: Session): readonly Place[] =>
  organizationPlaces.filter(
    ({ isForAdmins, isForOperators }) =>
      (!isForAdmins || isOrganizationAdmin(session)) && (!isForOperators || session.is_operator),
  )

/** The separate page at the end of the navigation. */
export const accountPlace: Place = {
  path: 'settings/account',
  name: 'Your account',
  page: lazyPage(() => import('./pages/account/account.tsx').then(({ Account }) => Account)),
}

/** Pages with paths below `projects/:projectId`. */
export const projectPlaces: readonly Place[] = [
  {
    path: 'overview',
    name: 'Overview',
    group: 'Analyze',
    key: 'o',
    hasView: true,
    page: lazyPage(() => import('./pages/overview/overview.tsx').then(({ Overview }) => Overview)),
  },
  {
    path: 'goals',
    name: 'Goals',
    group: 'Analyze',
    key: 'c',
    hasView: true,
    page: lazyPage(() => import('./pages/goals/goals.tsx').then(({ Goals }) => Goals)),
  },
  {
    path: 'funnels',
    name: 'Funnels',
    group: 'Analyze',
    key: 'f',
    hasView: true,
    page: lazyPage(() => import('./pages/funnels/funnels.tsx').then(({ Funnels }) => Funnels)),
  },
  {
    path: 'retention',
    name: 'Retention',
    group: 'Analyze',
    key: 'r',
    hasView: true,
    page: lazyPage(() =>
      import('./pages/retention/retention.tsx').then(({ Retention }) => Retention),
    ),
  },
  {
    path: 'journeys',
    name: 'Journeys',
    group: 'Analyze',
    key: 'j',
    hasView: true,
    page: lazyPage(() => import('./pages/journeys/journeys.tsx').then(({ Journeys }) => Journeys)),
  },
  {
    path: 'events',
    name: 'Events',
    group: 'Analyze',
    key: 'e',
    hasView: true,
    page: lazyPage(() => import('./pages/events/events.tsx').then(({ Events }) => Events)),
  },
  {
    path: 'vitals',
    name: 'Web Vitals',
    group: 'Analyze',
    key: 'w',
    hasView: true,
    page: lazyPage(() => import('./pages/vitals/webVitals.tsx').then(({ WebVitals }) => WebVitals)),
  },
  {
    path: 'people',
    name: 'Visitors',
    group: 'Analyze',
    key: 'v',
    hasView: true,
    page: lazyPage(() => import('./pages/people/people.tsx').then(({ People }) => People)),
  },
  {
    path: 'alerts',
    name: 'Alerts',
    group: 'Analyze',
    page: lazyPage(() => import('./pages/alerts/alerts.tsx').then(({ Alerts }) => Alerts)),
  },
  {
    path: 'intent',
    name: 'Intent',
    group: 'Activate',
    key: 'b',
    page: lazyPage(() => import('./pages/intent/intent.tsx').then(({ Intent }) => Intent)),
  },
  {
    path: 'audiences',
    name: 'Audiences',
    group: 'Activate',
    key: 'a',
    page: lazyPage(() =>
      import('./pages/audiences/audiences.tsx').then(({ Audiences }) => Audiences),
    ),
  },
  {
    path: 'audiences/new',
    page: lazyPage(() =>
      import('./pages/audiences/editor.tsx').then(({ AudienceEditor }) => AudienceEditor),
    ),
  },
  {
    path: 'audiences/:audienceId',
    page: lazyPage(() =>
      import('./pages/audiences/audience.tsx').then(({ AudiencePage }) => AudiencePage),
    ),
  },
  {
    path: 'audiences/:audienceId/edit',
    page: lazyPage(() =>
      import('./pages/audiences/editor.tsx').then(({ AudienceEditor }) => AudienceEditor),
    ),
  },
  {
    path: 'lists',
    name: 'Lists',
    group: 'Activate',
    key: 'l',
    page: lazyPage(() => import('./pages/lists/lists.tsx').then(({ Lists }) => Lists)),
  },
  {
    path: 'lists/:listId',
    page: lazyPage(() => import('./pages/lists/list.tsx').then(({ ListPage }) => ListPage)),
  },
  {
    path: 'exports',
    name: 'Exports',
    group: 'Activate',
    key: 's',
    page: lazyPage(() => import('./pages/exports/exports.tsx').then(({ Exports }) => Exports)),
  },
  {
    path: 'exports/:exportId',
    page: lazyPage(() => import('./pages/exports/export.tsx').then(({ ExportPage }) => ExportPage)),
  },
  {
    path: 'integrations',
    name: 'Integrations',
    group: 'Activate',
    key: 'i',
    page: lazyPage(() =>
      import('./pages/integrations/integrations.tsx').then(({ Integrations }) => Integrations),
    ),
  },
  {
    path: 'archives',
    name: 'Archives',
    group: 'Activate',
    page: lazyPage(() => import('./pages/archives/archives.tsx').then(({ Archives }) => Archives)),
  },
  {
    path: 'sharing',
    name: 'Sharing',
    group: 'Project settings',
    key: 'n',
    page: lazyPage(() => import('./pages/sharing/sharing.tsx').then(({ Sharing }) => Sharing)),
  },
  {
    path: 'webhooks',
    name: 'Webhooks',
    group: 'Project settings',
    key: 'h',
    page: lazyPage(() =>
      import('./pages/developers/webhooks.tsx').then(({ Webhooks }) => Webhooks),
    ),
  },
  {
    path: 'tracking-plan',
    name: 'Tracking plan',
    group: 'Project settings',
    page: lazyPage(() =>
      import('./pages/trackingPlan/trackingPlan.tsx').then(
        ({ TrackingPlanPage }) => TrackingPlanPage,
      ),
    ),
  },
  {
    path: 'repairs',
    name: 'Repairs',
    group: 'Project settings',
    page: lazyPage(() => import('./pages/repairs/repairs.tsx').then(({ Repairs }) => Repairs)),
  },
  {
    path: '',
    name: 'Pixels and members',
    group: 'Project settings',
    key: 'x',
    page: lazyPage(() => import('./pages/project.tsx').then(({ ProjectPage }) => ProjectPage)),
  },
  {
    path: 'settings',
    name: 'Settings',
    group: 'Project settings',
    key: 't',
    page: lazyPage(() =>
      import('./pages/projectSettings.tsx').then(({ ProjectSettings }) => ProjectSettings),
    ),
  },
  {
    path: 'pixels/:pixelId',
    page: lazyPage(() => import('./pages/pixel/pixel.tsx').then(({ PixelPage }) => PixelPage)),
  },
]

const below = (...parts: string[]): string => parts.filter((part) => part !== '').join('/')

/** All pages with their complete path below the organization. */
const allPlaces: readonly Place[] = [
  ...organizationPlaces,
  accountPlace,
  ...projectPlaces.map((place) => ({ ...place, path: below('projects/:projectId', place.path) })),
]

/**
 * Returns the page of an address, with the values of its pattern's `:names`; undefined for unknown addresses.
 */
export function placeAt(
  path: string,
): { place: Place; params: Record<string, string> } | undefined {
  for (const place of allPlaces) {
    const found = match(`/:organization/${place.path}`, path.toLowerCase())
    if (!found) continue
    const { organization: _, ...params } = found
    return { place, params }
  }
  return undefined
}

/** Returns the address of a page of an organization. */
export const addressOf = (organizationId: string, place: Place): string =>
  `/${below(organizationId, place.path)}`

/** Returns the address of a page of a project. */
export const projectAddress = (organizationId: string, projectId: string, place: Place): string =>
  `/${below(organizationId, 'projects', projectId, place.path)}`
