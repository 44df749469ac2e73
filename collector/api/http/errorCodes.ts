/**
 * The catalogue of error codes: the `code` of every error response, by its `error`. Codes never change, and
 * the words of `error` are those of the contract. An `error` with several causes has a code for each cause.
 */
export const errorCodes = {
  'access denied': ['access_denied'],
  'alert not found': ['alert_not_found'],
  'annotation not found': ['annotation_not_found'],
  'archive not found': ['archive_not_found'],
  'audience not found': ['audience_not_found'],
  'build not found': ['build_not_found'],
  'campaign not found': ['campaign_not_found'],
  'delivery not found': ['delivery_not_found'],
  'email change not found': ['email_change_not_found'],
  'erasure not found': ['erasure_not_found'],
  'export not found': ['export_not_found'],
  'field not found': ['field_not_found'],
  'funnel not found': ['funnel_not_found'],
  'import not found': ['import_not_found'],
  'integration not found': ['integration_not_found'],
  'invitation not found': ['invitation_not_found'],
  'key not found': ['key_not_found'],
  'list not found': ['list_not_found'],
  'member not found': ['member_not_found'],
  'opt-out not found': ['opt_out_not_found'],
  'organization not found': ['organization_not_found'],
  'origin not allowed': ['origin_not_allowed'],
  'password reset not found': ['password_reset_not_found'],
  'pixel inactive': ['pixel_inactive'],
  'pixel not found': ['pixel_not_found'],
  'project member not found': ['project_member_not_found'],
  'project not found': ['project_not_found'],
  'project_id does not match API key scope': ['project_scope_mismatch'],
  'run not found': ['run_not_found'],
  'segment not found': ['segment_not_found'],
  'session not found': ['session_not_found'],
  'share link not found': ['share_link_not_found'],
  'single sign-on not found': ['single_sign_on_not_found'],
  'subscription not found': ['subscription_not_found'],
  'taxonomy not found': ['taxonomy_not_found'],
  'visit alert not found': ['visit_alert_not_found'],
  'webhook not found': ['webhook_not_found'],
  'API secret is required': ['api_secret_required'],
  'Invalid API key': ['invalid_api_key'],
  'Invalid API secret': ['invalid_api_secret'],
  budget_exceeded: ['budget_exceeded'],
  busy: ['busy'],
  conflict: [
    'version_conflict',
    'already_exists',
    'in_use',
    'invalid_state',
    'count_limit_reached',
    'count_changed',
  ],
  cross_origin: ['cross_origin'],
  cursor_stale: ['cursor_stale'],
  expired: ['expired'],
  forbidden: ['forbidden'],
  headers_too_large: ['headers_too_large'],
  internal_error: ['internal_error'],
  invalid_code: ['invalid_code'],
  invalid_credentials: ['invalid_credentials'],
  invalid_parameter: ['invalid_parameter'],
  invalid_share_link: ['invalid_share_link'],
  last_owner: ['last_owner'],
  malformed: ['malformed'],
  method_not_allowed: ['method_not_allowed'],
  not_acceptable: ['not_acceptable'],
  not_configured: ['not_configured'],
  not_found: ['not_found'],
  not_ready: ['not_ready'],
  platform_cap_exceeded: ['platform_cap_exceeded'],
  query_too_heavy: ['query_too_heavy'],
  rate_limited: ['rate_limited'],
  request_timeout: ['request_timeout'],
  second_factor_required: ['second_factor_required'],
  share_password_required: ['share_password_required'],
  single_sign_on_required: ['single_sign_on_required'],
  too_large: ['too_large'],
  unauthenticated: ['unauthenticated'],
  unsupported_media_type: ['unsupported_media_type'],
  uri_too_long: ['uri_too_long'],
  use_download: ['use_download'],
} as const satisfies Record<string, readonly [string, ...string[]]>

/** An `error` of the catalogue. */
export type ErrorWord = keyof typeof errorCodes

/** A `code` of the catalogue. */
export type ErrorCode = (typeof errorCodes)[ErrorWord][number]

/** Why a request conflicts with the state of an object. */
export type ConflictCode = (typeof errorCodes)['conflict'][number]

/** Every code, sorted. */
export const allErrorCodes: readonly ErrorCode[] = Object.values(errorCodes).flat().sort()
