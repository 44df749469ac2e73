import type { ErrorCode } from '../http/errorCodes.ts'

interface Conflict {
  readonly code: ErrorCode
  readonly meaning: string
  /** By operationId; test/spec/conflicts.test.ts compares them with the code of the routes. */
  readonly operations: readonly string[]
}

/** Every code of a 409 answer, and the operations that can answer it. */
const conflicts: readonly Conflict[] = [
  {
    code: 'version_conflict',
    meaning: 'the object has another version, which the answer contains',
    operations: [
      'setAnalyticsGoals',
      'setIntentRules',
      'updateAnalyticsAnnotation',
      'updateAnalyticsSavedFunnel',
      'updateAnalyticsSegment',
      'updateAudience',
      'updateCampaign',
      'updateExport',
      'updateIntegration',
      'updateList',
      'updateMember',
      'updateOrganization',
      'updatePixel',
      'updateProject',
      'updateWebhook',
    ],
  },
  {
    code: 'already_exists',
    meaning: 'the object already exists',
    operations: ['addProjectMember', 'confirmEmailChange', 'inviteMember'],
  },
  {
    code: 'in_use',
    meaning: 'another object depends on this one; the answer names it',
    operations: [
      'deleteAudience',
      'deleteExport',
      'deleteIntegration',
      'deleteList',
      'removeMember',
      'removeProjectMember',
      'updateIntegration',
      'updateMember',
      'updateProjectMember',
    ],
  },
  {
    code: 'invalid_state',
    meaning:
      'the state of the object or of one it needs does not allow the request, or another request deleted one of them',
    operations: [
      'acceptInvitation',
      'addListItems',
      'addProjectMember',
      'beginTwoFactor',
      'cancelExportRun',
      'changePassword',
      'cloneAudience',
      'confirmEmailChange',
      'confirmTwoFactor',
      'createAnalyticsAnnotation',
      'createAnalyticsSavedFunnel',
      'createAnalyticsSegment',
      'createApiKey',
      'createAudience',
      'createCampaign',
      'createExport',
      'createExportRun',
      'createIntegration',
      'createList',
      'createOptOut',
      'createPixel',
      'createProject',
      'createShareLink',
      'createWebhook',
      'deleteAnalyticsAnnotation',
      'deleteAnalyticsSavedFunnel',
      'deleteAnalyticsSegment',
      'deleteAudience',
      'deleteExport',
      'deleteIntegration',
      'deleteList',
      'deleteOptOut',
      'deleteOrganization',
      'deletePixel',
      'deleteProject',
      'deleteWebhook',
      'endOtherSessions',
      'endTwoFactor',
      'eraseSubject',
      'explainAudience',
      'exportSubject',
      'inviteMember',
      'removeListItems',
      'removeMember',
      'removeProjectMember',
      'renewRecoveryCodes',
      'replayDeadLetters',
      'replayFailedWebhookDeliveries',
      'replayWebhookDelivery',
      'resetPassword',
      'retireIdentifySecret',
      'retryExportRun',
      'revokeApiKey',
      'revokeShareLink',
      'rotateIdentifySecret',
      'rotateWebhookSecret',
      'sampleAudience',
      'setAnalyticsGoals',
      'setIntentRules',
      'setUsageLimits',
      'testWebhook',
      'updateAccount',
      'updateAnalyticsAnnotation',
      'updateAnalyticsSavedFunnel',
      'updateAnalyticsSegment',
      'updateAudience',
      'updateCampaign',
      'updateExport',
      'updateIntegration',
      'updateList',
      'updateMember',
      'updateOrganization',
      'updatePixel',
      'updateProject',
      'updateProjectMember',
      'updateWebhook',
    ],
  },
  {
    code: 'count_limit_reached',
    meaning: 'the number of objects has reached its limit',
    operations: [
      'createAnalyticsAnnotation',
      'createAnalyticsSavedFunnel',
      'createAnalyticsSegment',
      'createShareLink',
      'createWebhook',
      'listDeadLetters',
      'replayDeadLetters',
    ],
  },
  {
    code: 'last_owner',
    meaning: 'the organization would lose its last owner who can sign in',
    operations: ['removeMember', 'updateMember'],
  },
  {
    code: 'not_ready',
    meaning: 'the data of this request is not complete yet',
    operations: [
      'createExportRun',
      'findCompaniesByTopic',
      'findCompaniesByTopics',
      'findPeopleByTopic',
      'findPeopleByTopics',
      'listAudienceChanges',
      'listAudienceRecords',
      'listRejectedLines',
      'previewCompaniesByTopic',
      'previewCompaniesByTopics',
      'previewPeopleByTopic',
      'previewPeopleByTopics',
      'retryExportRun',
    ],
  },
  {
    code: 'cursor_stale',
    meaning: 'the audience was rebuilt after the cursor was issued',
    operations: [
      'findCompaniesByTopic',
      'findCompaniesByTopics',
      'findPeopleByTopic',
      'findPeopleByTopics',
      'listAudienceRecords',
      'previewCompaniesByTopic',
      'previewCompaniesByTopics',
      'previewPeopleByTopic',
      'previewPeopleByTopics',
    ],
  },
] as const

/**
 * Describes the 409 answers of an operation: its codes, and `details`, the route's own words, or else what each code
 * means. Undefined for an operation without any.
 */
export function describeConflicts(
  operationId: string | undefined,
  details: string | undefined,
): string | undefined {
  const own = conflicts.filter(({ operations }) => operations.includes(operationId ?? ''))
  if (own.length === 0) return undefined
  const codes = own.map(({ code }) => `\`${code}\``).join(', ')
  const meanings = own.map(({ code, meaning }) => `\`${code}\`: ${meaning}.`).join(' ')
  return `\`code\` is one of: ${codes}. ${details ?? meanings}`
}
