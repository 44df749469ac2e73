// Written by `npm run client:operations`: run it after each change of the API.
import type { OperationId } from './client.d.ts'

/**
 * By operationId: the method and the path, and whether its records are charged. Comments list parameters, members of the
 * body and statuses. A ? marks an optional one.
 */
export const operations = {
  checkHealth: 'GET /healthz', // → 200 4XX
  checkReadiness: 'GET /readyz', // → 200 503 4XX
  sendEvents: 'POST /e', // { client_ip? consent? cookie_id? events hem? hem_signature? hem_source? pixel_id sent_at user_agent? } → 200 4XX
  sendPageView: 'GET /e.gif', // pixel_id? referrer? title? url? → 200 4XX
  sendSegmentTrack: 'POST /api/v1/track', // { anonymousId? category? context? event? groupId? messageId? name? originalTimestamp? previousId? properties? sentAt? timestamp? traits? userId? writeKey? } → 200 4XX
  sendSegmentPage: 'POST /api/v1/page', // { anonymousId? category? context? event? groupId? messageId? name? originalTimestamp? previousId? properties? sentAt? timestamp? traits? userId? writeKey? } → 200 4XX
  sendSegmentScreen: 'POST /api/v1/screen', // { anonymousId? category? context? event? groupId? messageId? name? originalTimestamp? previousId? properties? sentAt? timestamp? traits? userId? writeKey? } → 200 4XX
  sendSegmentIdentify: 'POST /api/v1/identify', // { anonymousId? category? context? event? groupId? messageId? name? originalTimestamp? previousId? properties? sentAt? timestamp? traits? userId? writeKey? } → 200 4XX
  sendSegmentGroup: 'POST /api/v1/group', // { anonymousId? category? context? event? groupId? messageId? name? originalTimestamp? previousId? properties? sentAt? timestamp? traits? userId? writeKey? } → 200 4XX
  sendSegmentAlias: 'POST /api/v1/alias', // { anonymousId? category? context? event? groupId? messageId? name? originalTimestamp? previousId? properties? sentAt? timestamp? traits? userId? writeKey? } → 200 4XX
  sendSegmentBatch: 'POST /api/v1/batch', // { batch sentAt? writeKey? } → 200 4XX
  getPixelScript: 'GET /p/{file}', // file → 200 304 4XX
  resendRejectedEvents: 'POST /api/v1/rejected_events/resend', // X-Project-Id? { client_ip? cookie_id? events pixel_id project_id user_agent? } → 200 400 401 403 404 429 503
  deliverCampaignEvents: 'POST /api/v1/campaigns/events?project_id', // X-Project-Id? project_id? { events } → 200 400 401 403 404 429 503
  listEvents: 'GET /api/v3/events/web_event charged', // Idempotency-Key? X-Project-Id? campaign_id? csv_formulas? cursor? distinct? end_ms? end_time? filter? limit? order? pixel_id? project_id? select? source? start_ms? start_time? → 200 400 401 402 403 404 429 503
  getEventSchema: 'GET /api/v3/events/web_event/schema', // X-Project-Id? campaign_id? pixel_id? project_id? source? → 200 400 401 403 404 429 503
  listEventsWithHem: 'GET /api/v3/events/resolution_hem charged', // Idempotency-Key? X-Project-Id? campaign_id? csv_formulas? cursor? distinct? end_ms? end_time? filter? limit? order? pixel_id? project_id? select? source? start_ms? start_time? → 200 400 401 402 403 404 429 503
  getEventWithHemSchema: 'GET /api/v3/events/resolution_hem/schema', // X-Project-Id? campaign_id? pixel_id? project_id? source? → 200 400 401 403 404 429 503
  listEventsWithPte: 'GET /api/v3/events/resolution_hem_pte charged', // Idempotency-Key? X-Project-Id? campaign_id? csv_formulas? cursor? distinct? end_ms? end_time? filter? limit? order? pixel_id? project_id? select? source? start_ms? start_time? → 200 400 401 402 403 404 429 503
  getEventWithPteSchema: 'GET /api/v3/events/resolution_hem_pte/schema', // X-Project-Id? campaign_id? pixel_id? project_id? source? → 200 400 401 403 404 429 503
  listEventsWithFullProfile: 'GET /api/v3/events/resolution_full_profile charged', // Idempotency-Key? X-Project-Id? campaign_id? csv_formulas? cursor? distinct? end_ms? end_time? filter? limit? order? pixel_id? project_id? select? source? start_ms? start_time? → 200 400 401 402 403 404 429 503
  getEventWithFullProfileSchema: 'GET /api/v3/events/resolution_full_profile/schema', // X-Project-Id? campaign_id? pixel_id? project_id? source? → 200 400 401 403 404 429 503
  getEventsSchema: 'GET /api/v3/events_schema', // X-Project-Id? campaign_id? pixel_id? project_id? source? → 200 400 401 403 404 429 503
  countEvents: 'GET /api/v3/events/web_event/counts', // X-Project-Id? campaign_id? distinct? end_ms? end_time? filter? group_by? limit? pixel_id? project_id? source? start_ms? start_time? → 200 400 401 403 404 429 503
  traceEvent: 'GET /api/v1/events/{event_id}/trace', // X-Project-Id? event_id pixel_id? project_id? → 200 400 401 403 404 429 503
  listVisitors: 'GET /api/v3/events/resolution_hem/visitors charged', // Idempotency-Key? X-Project-Id? csv_formulas? end_ms filter? include_dsp? kind? limit pixel_id? project_id? select? start_ms → 200 400 401 402 403 404 429 503
  listVisitorsWithPte: 'GET /api/v3/events/resolution_hem_pte/visitors charged', // Idempotency-Key? X-Project-Id? csv_formulas? end_ms filter? include_dsp? kind? limit pixel_id? project_id? select? start_ms → 200 400 401 402 403 404 429 503
  listVisitorsWithFullProfile: 'GET /api/v3/events/resolution_full_profile/visitors charged', // Idempotency-Key? X-Project-Id? csv_formulas? end_ms filter? include_dsp? kind? limit pixel_id? project_id? select? start_ms → 200 400 401 402 403 404 429 503
  listEventsV1: 'GET /api/v1/events charged', // Idempotency-Key? X-Project-Id? campaign_id? distinct? end_ms? end_time? filter? limit? offset? organization_id? pixel_id? project_id? select? source? start_ms? start_time? → 200 400 401 402 403 404 429 503
  listEventsV2: 'GET /api/v2/events charged', // Idempotency-Key? X-Project-Id? campaign_id? distinct? end_ms? end_time? filter? limit? offset? organization_id? pixel_id? project_id? select? source? start_ms? start_time? → 200 400 401 402 403 404 429 503
  estimateEventScan: 'GET /api/v1/events/scan_estimate', // X-Project-Id? campaign_id? distinct? end_ms? end_time? filter? limit? offset? organization_id? pixel_id? project_id? select? source? start_ms? start_time? → 200 400 401 403 404 429 503
  countEventsV1: 'GET /api/v1/event_counts', // X-Project-Id? campaign_id? distinct? end_ms? end_time? filter? group_by? organization_id? pixel_id? project_id? source? start_ms? start_time? → 200 400 401 403 404 429 503
  getEventCountsIndex: 'GET /api/v1/event_counts_index', // X-Project-Id? campaign_id? end_ms? end_time? filter? interval? organization_id? pixel_id? project_id? source? start_ms? start_time? → 200 400 401 403 404 429 503
  getEventsSchemaV1: 'GET /api/v1/events_schema', // X-Project-Id? campaign_id? organization_id? pixel_id? project_id? source? → 200 400 401 403 404 429 503
  lookUpPerson: 'GET /api/v1/lookup charged', // Idempotency-Key? email? hem? select? → 200 400 401 402 403 404 429 503
  lookUpPersonByBody: 'POST /api/v1/lookup charged', // Idempotency-Key? { email? hem? select? } → 200 400 401 402 403 404 429 503
  lookUpPeople: 'POST /api/v1/lookup/batch charged', // Idempotency-Key? { items select? } → 200 400 401 402 403 404 429 503
  lookUpCompany: 'GET /api/v1/lookup/company charged', // Idempotency-Key? domain? email? ip? → 200 400 401 402 403 404 429 503
  lookUpCookie: 'GET /api/v1/lookup/cookie charged', // Idempotency-Key? X-Project-Id? cookie_id pixel_id? project_id? → 200 400 401 402 403 404 429 503
  queryContacts: 'POST /api/v1/contact/query charged', // Idempotency-Key? { cursor? filter limit? select? } → 200 400 401 402 403 404 429 503
  getResolutionStatistics: 'GET /api/v1/resolution/statistics', // X-Project-Id? end_ms? end_time? group_by? pixel_id? project_id? start_ms? start_time? → 200 400 401 403 404 429 503
  listRejectedEvents: 'GET /api/v1/rejected_events charged', // Idempotency-Key? X-Project-Id? content? event_id? limit? pixel_id? project_id? → 200 400 401 402 403 404 429 503
  listEventDeletions: 'GET /api/v1/event-deletions', // X-Project-Id? project_id → 200 400 401 403 404 429 503
  deleteEvents: 'POST /api/v1/event-deletions', // X-Project-Id? { dry_run? end_ms events? filter? pixel_id? project_id start_ms } → 200 202 400 401 403 404 409 429 503
  getAnalyticsOverview: 'GET /api/v1/analytics/overview', // X-Project-Id? compare? end_ms? end_time? filter? include_bots? pixel_id? project_id? start_ms? start_time? time_zone? → 200 400 401 403 404 429 503
  getAnalyticsTimeseries: 'GET /api/v1/analytics/timeseries', // X-Project-Id? compare? end_ms? end_time? filter? goal? include? include_bots? interval? pixel_id? project_id? start_ms? start_time? time_zone? → 200 400 401 403 404 429 503
  getAnalyticsBreakdown: 'GET /api/v1/analytics/breakdown', // X-Project-Id? dimensions end_ms? end_time? filter? goal? include_bots? limit? pixel_id? project_id? start_ms? start_time? time_zone? → 200 400 401 403 404 429 503
  getAnalyticsLive: 'GET /api/v1/analytics/live', // X-Project-Id? filter? include_bots? pixel_id? project_id? → 200 400 401 403 404 429 503
  getAnalyticsFunnel: 'POST /api/v1/analytics/funnel', // X-Project-Id? { end_ms? end_time? filter? include_bots? pixel_id? project_id? start_ms? start_time? steps time_zone? within_ms? } → 200 400 401 403 404 429 503
  getAnalyticsRetention: 'GET /api/v1/analytics/retention', // X-Project-Id? end_ms? end_time? filter? first? include_bots? interval? pixel_id? project_id? returning? start_ms? start_time? time_zone? → 200 400 401 403 404 429 503
  getAnalyticsJourneys: 'GET /api/v1/analytics/journeys', // X-Project-Id? end? end_ms? end_time? filter? goal? include_bots? pages? pixel_id? project_id? start? start_ms? start_time? steps? time_zone? → 200 400 401 403 404 429 503
  getAnalyticsGoals: 'GET /api/v1/analytics/goals', // X-Project-Id? project_id → 200 400 401 403 404 429 503
  setAnalyticsGoals: 'PUT /api/v1/analytics/goals', // X-Project-Id? { goals project_id version? } → 200 400 401 403 404 409 429 503
  listAnalyticsSegments: 'GET /api/v1/analytics/segments', // X-Project-Id? project_id → 200 400 401 403 404 429 503
  createAnalyticsSegment: 'POST /api/v1/analytics/segments', // X-Project-Id? { filter name project_id } → 201 400 401 403 404 409 429 503
  updateAnalyticsSegment: 'PATCH /api/v1/analytics/segments/{segment_id}?project_id', // X-Project-Id? project_id? segment_id { filter? name? version? } → 200 400 401 403 404 409 429 503
  deleteAnalyticsSegment: 'DELETE /api/v1/analytics/segments/{segment_id}?project_id', // X-Project-Id? project_id? segment_id → 204 400 401 403 404 409 429 503
  listAnalyticsSavedFunnels: 'GET /api/v1/analytics/funnels', // X-Project-Id? project_id → 200 400 401 403 404 429 503
  createAnalyticsSavedFunnel: 'POST /api/v1/analytics/funnels', // X-Project-Id? { name project_id steps within_ms } → 201 400 401 403 404 409 429 503
  updateAnalyticsSavedFunnel: 'PATCH /api/v1/analytics/funnels/{funnel_id}?project_id', // X-Project-Id? funnel_id project_id? { name? steps? version? within_ms? } → 200 400 401 403 404 409 429 503
  deleteAnalyticsSavedFunnel: 'DELETE /api/v1/analytics/funnels/{funnel_id}?project_id', // X-Project-Id? funnel_id project_id? → 204 400 401 403 404 409 429 503
  listAnalyticsAnnotations: 'GET /api/v1/analytics/annotations', // X-Project-Id? project_id → 200 400 401 403 404 429 503
  createAnalyticsAnnotation: 'POST /api/v1/analytics/annotations', // X-Project-Id? { at project_id text } → 201 400 401 403 404 409 429 503
  updateAnalyticsAnnotation: 'PATCH /api/v1/analytics/annotations/{annotation_id}?project_id', // X-Project-Id? annotation_id project_id? { at? text? version? } → 200 400 401 403 404 409 429 503
  deleteAnalyticsAnnotation: 'DELETE /api/v1/analytics/annotations/{annotation_id}?project_id', // X-Project-Id? annotation_id project_id? → 204 400 401 403 404 409 429 503
  getAnalyticsConversions: 'GET /api/v1/analytics/conversions', // X-Project-Id? compare? end_ms? end_time? filter? include_bots? pixel_id? project_id start_ms? start_time? time_zone? → 200 400 401 403 404 429 503
  listAnalyticsVisitors: 'POST /api/v1/analytics/visitors charged', // Idempotency-Key? X-Project-Id? { cursor? end_ms? end_time? filter? include_bots? limit? outcome? pixel_id? project_id? start_ms? start_time? step? steps? time_zone? within_ms? } → 200 400 401 402 403 404 429 503
  getAnalyticsWebVitals: 'GET /api/v1/analytics/web-vitals', // X-Project-Id? end_ms? end_time? filter? include_bots? pixel_id? project_id? start_ms? start_time? time_zone? → 200 400 401 403 404 429 503
  unlockShareLink: 'POST /api/v1/analytics/shares/unlock', // { password secret } → 200 4XX
  listAlerts: 'GET /api/v1/analytics/alerts', // X-Project-Id? project_id → 200 400 401 403 404 429 503
  createAlert: 'POST /api/v1/analytics/alerts', // X-Project-Id? { active? chat_url? condition member_ids? name project_id } → 201 400 401 403 404 409 429 503
  getAlert: 'GET /api/v1/analytics/alerts/{alert_id}', // X-Project-Id? alert_id project_id? → 200 400 401 403 404 429 503
  updateAlert: 'PATCH /api/v1/analytics/alerts/{alert_id}?project_id', // X-Project-Id? alert_id project_id? { active? chat_url? condition? member_ids? name? version? } → 200 400 401 403 404 409 429 503
  deleteAlert: 'DELETE /api/v1/analytics/alerts/{alert_id}?project_id', // X-Project-Id? alert_id project_id? → 204 400 401 403 404 409 429 503
  listShareLinks: 'GET /api/v1/analytics/shares', // X-Project-Id? project_id → 200 400 401 403 404 429 503
  createShareLink: 'POST /api/v1/analytics/shares', // X-Project-Id? { embed_origins? expires_at goals? name password? pixel_id? project_id segment_id? } → 201 400 401 403 404 409 429 503
  getShareLink: 'GET /api/v1/analytics/shares/{share_id}', // X-Project-Id? project_id? share_id → 200 400 401 403 404 429 503
  revokeShareLink: 'DELETE /api/v1/analytics/shares/{share_id}?project_id', // X-Project-Id? project_id? share_id → 204 400 401 403 404 409 429 503
  listAudiences: 'GET /api/v1/audiences', // X-Project-Id? cursor? limit? project_id? → 200 400 401 403 404 429 503
  createAudience: 'POST /api/v1/audiences', // X-Project-Id? project_id? { definition intent_window_days? name project_id? refresh? } → 201 400 401 403 404 409 429 503
  getAudience: 'GET /api/v1/audiences/{audience_id}', // X-Project-Id? audience_id project_id? → 200 400 401 403 404 429 503
  updateAudience: 'PATCH /api/v1/audiences/{audience_id}?project_id', // X-Project-Id? audience_id project_id? { definition? intent_window_days? name? refresh? version? } → 200 400 401 403 404 409 429 503
  deleteAudience: 'DELETE /api/v1/audiences/{audience_id}?project_id', // X-Project-Id? audience_id project_id? → 204 400 401 403 404 409 429 503
  cloneAudience: 'POST /api/v1/audiences/{audience_id}/clone', // X-Project-Id? audience_id project_id? { name? project_id? } → 201 400 401 403 404 409 429 503
  sampleAudience: 'POST /api/v1/audiences/sample', // X-Project-Id? project_id? { definition intent_window_days? project_id? } → 200 400 401 403 404 409 429 503
  getAudienceStatus: 'GET /api/v1/audiences/{audience_id}/status', // X-Project-Id? audience_id project_id? → 200 400 401 403 404 429 503
  listAudienceRecords: 'GET /api/v1/audiences/{audience_id}/records charged', // Idempotency-Key? X-Project-Id? audience_id cursor? page_size? project_id? → 200 400 401 402 403 404 409 422 429 503
  listAudienceBuilds: 'GET /api/v1/audiences/{audience_id}/builds', // X-Project-Id? audience_id cursor? limit? project_id? → 200 400 401 403 404 429 503
  listAudienceChanges: 'GET /api/v1/audiences/{audience_id}/builds/{build_id}/changes charged', // Idempotency-Key? X-Project-Id? audience_id build_id cursor? page_size? project_id? → 200 400 401 402 403 404 409 422 429 503
  explainAudience: 'GET /api/v1/audiences/{audience_id}/explain charged', // Idempotency-Key? X-Project-Id? audience_id email? hem? project_id? → 200 400 401 402 403 404 409 422 429 503
  getAudienceUsage: 'GET /api/v1/audiences/linkage-usage', // X-Project-Id? end_date? project_id? start_date? → 200 400 401 403 404 429 503
  downloadAudience: 'GET /api/v1/audiences/{audience_id}/download charged', // Idempotency-Key? X-Project-Id? audience_id csv_formulas? format? project_id? → 200 400 401 402 403 404 429 503
  getAudienceFile: 'GET /api/v1/audience_files/{name}', // name ticket → 200 4XX
  getAudienceSchema: 'GET /api/v1/audiences/schema', // → 200 400 401 403 404 429 503
  listAudienceTemplates: 'GET /api/v1/audiences/templates', // → 200 400 401 403 404 429 503
  lookUpIntent: 'POST /api/v1/intent/batch charged', // Idempotency-Key? { dry_run? intent_window_days? items topics? } → 200 400 401 402 403 404 429 503
  findPeopleByTopic: 'POST /api/v1/intent/people charged', // Idempotency-Key? X-Project-Id? { audience_id? cursor? dry_run? filter? intent_window_days? limit? min_score? project_id? select? topic } → 200 400 401 402 403 404 409 429 503
  previewPeopleByTopic: 'POST /api/v1/intent/people/preview', // X-Project-Id? { audience_id? dry_run? filter? intent_window_days? limit? min_score? project_id? select? topic } → 200 400 401 403 404 409 429 503
  findPeopleByTopics: 'POST /api/v1/intent/people/multi charged', // Idempotency-Key? X-Project-Id? { audience_id? cursor? dry_run? filter? intent_window_days? limit? match? min_score? project_id? select? topics } → 200 400 401 402 403 404 409 429 503
  previewPeopleByTopics: 'POST /api/v1/intent/people/multi/preview', // X-Project-Id? { audience_id? dry_run? filter? intent_window_days? limit? match? min_score? project_id? select? topics } → 200 400 401 403 404 409 429 503
  findCompaniesByTopic: 'POST /api/v1/intent/companies charged', // Idempotency-Key? X-Project-Id? { audience_id? cursor? dry_run? filter? intent_window_days? limit? min_score? project_id? select? topic } → 200 400 401 402 403 404 409 429 503
  previewCompaniesByTopic: 'POST /api/v1/intent/companies/preview', // X-Project-Id? { audience_id? dry_run? filter? intent_window_days? limit? min_score? project_id? select? topic } → 200 400 401 403 404 409 429 503
  findCompaniesByTopics: 'POST /api/v1/intent/companies/multi charged', // Idempotency-Key? X-Project-Id? { audience_id? cursor? dry_run? filter? intent_window_days? limit? match? min_score? project_id? select? topics } → 200 400 401 402 403 404 409 429 503
  previewCompaniesByTopics: 'POST /api/v1/intent/companies/multi/preview', // X-Project-Id? { audience_id? dry_run? filter? intent_window_days? limit? match? min_score? project_id? select? topics } → 200 400 401 403 404 409 429 503
  getIntentDailyStats: 'GET /api/v1/stats/tables/intent-daily-stats', // end_date? start_date? topic? → 200 400 401 403 404 429 503
  getIntentDailyTopicStats: 'GET /api/v1/stats/tables/intent-daily-per-topic-stats', // end_date? start_date? topic? → 200 400 401 403 404 429 503
  getIntentRules: 'GET /api/v1/intent/rules', // → 200 400 401 403 404 429 503
  setIntentRules: 'PUT /api/v1/intent/rules', // { rules version? } → 200 400 401 403 404 409 429 503
  getUsage: 'GET /api/v1/billing/usage', // X-Project-Id? end_date? project_id? start_date? → 200 400 401 403 404 429 503
  getUsageByMeter: 'GET /api/v1/billing/usage/by-meter', // X-Project-Id? end_date? project_id? start_date? → 200 400 401 403 404 429 503
  getDailyUsageByMeter: 'GET /api/v1/billing/usage/daily-by-meter', // X-Project-Id? end_date? project_id? start_date? → 200 400 401 403 404 429 503
  getUsageByKey: 'GET /api/v1/billing/usage/by-key', // X-Project-Id? end_date? project_id? start_date? → 200 400 401 403 404 429 503
  getUsageForecast: 'GET /api/v1/billing/usage/forecast', // X-Project-Id? project_id? → 200 400 401 403 404 429 503
  getUsageLimits: 'GET /api/v1/billing/limits', // → 200 400 401 403 404 429 503
  setUsageLimits: 'PUT /api/v1/billing/limits', // { budgets limits } → 200 400 401 403 404 409 429 503
  getPrices: 'GET /api/v1/billing/prices', // → 200 400 401 403 404 429 503
  listRequests: 'GET /api/v1/requests', // X-Project-Id? caller_id? caller_kind? charged? cursor? end_date? limit? meter? project_id? request_id? route? start_date? status? → 200 400 401 403 404 429 503
  listFields: 'GET /api/v1/field-catalog', // group? tier? → 200 400 401 403 404 429 503
  getField: 'GET /api/v1/field-catalog/{name}', // name → 200 400 401 403 404 429 503
  listTaxonomies: 'GET /api/v1/taxonomy', // → 200 400 401 403 404 429 503
  getTaxonomy: 'GET /api/v1/taxonomy/{name}', // name → 200 400 401 403 404 429 503
  getOrganization: 'GET /api/v1/organization', // → 200 400 401 403 404 429 503
  updateOrganization: 'PUT /api/v1/organization', // { name? secret_required? version? } → 200 400 401 403 404 409 429 503
  deleteOrganization: 'DELETE /api/v1/organization', // { confirm events } → 200 400 401 403 404 409 429 503
  getSingleSignOn: 'GET /api/v1/organization/single-sign-on', // → 200 400 401 403 404 429 503
  setSingleSignOn: 'PUT /api/v1/organization/single-sign-on', // { client_id client_secret? default_role email_domains emergency_member_id group_claim? group_roles issuer provider_name required sign_in_name version? } → 200 400 401 403 404 409 429 503
  deleteSingleSignOn: 'DELETE /api/v1/organization/single-sign-on', // → 204 400 401 403 404 409 429 503
  inviteMember: 'POST /api/v1/organization/user/create', // { email name? projects? role } → 201 400 401 403 404 409 429 503
  listMembers: 'GET /api/v1/organization/user/list', // cursor? limit? → 200 400 401 403 404 429 503
  getMember: 'GET /api/v1/organization/user/retrieve/{member_id}', // member_id → 200 400 401 403 404 429 503
  updateMember: 'PUT /api/v1/organization/user/update', // { api_keys? member_id name? renew_invitation? role? version? } → 200 400 401 403 404 409 429 503
  removeMember: 'DELETE /api/v1/organization/user/delete', // { api_keys? member_id } → 204 400 401 403 404 409 429 503
  createProject: 'POST /api/v1/project/create', // { name time_zone? } → 201 400 401 403 404 409 429 503
  listProjects: 'GET /api/v1/project/list', // cursor? limit? → 200 400 401 403 404 429 503
  getProject: 'GET /api/v1/project/retrieve/{project_id}', // X-Project-Id? project_id → 200 400 401 403 404 429 503
  updateProject: 'PUT /api/v1/project/update', // X-Project-Id? { ignored_hosts? ignored_networks? ignored_paths? name? project_id time_zone? transit_hosts? version? } → 200 400 401 403 404 409 429 503
  deleteProject: 'DELETE /api/v1/project/delete', // X-Project-Id? { events? project_id } → 200 400 401 403 404 409 429 503
  getTrackingPlan: 'GET /api/v1/tracking-plan', // X-Project-Id? project_id? → 200 400 401 403 404 429 503
  setTrackingPlan: 'PUT /api/v1/tracking-plan', // X-Project-Id? { events on_unplanned on_violation project_id version? } → 200 400 401 403 404 409 429 503
  listUnplannedEvents: 'GET /api/v1/tracking-plan/unplanned', // X-Project-Id? project_id? → 200 400 401 403 404 429 503
  listProjectActivity: 'GET /api/v1/project/activity', // → 200 400 401 403 404 429 503
  addProjectMember: 'POST /api/v1/project/user/create', // X-Project-Id? { email? member_id? project_id role } → 201 400 401 403 404 409 429 503
  listProjectMembers: 'GET /api/v1/project/user/list', // X-Project-Id? cursor? limit? project_id → 200 400 401 403 404 429 503
  getProjectMember: 'GET /api/v1/project/user/retrieve/{member_id}', // X-Project-Id? member_id project_id → 200 400 401 403 404 429 503
  updateProjectMember: 'PUT /api/v1/project/user/update', // X-Project-Id? { api_keys? member_id project_id role } → 200 400 401 403 404 409 429 503
  removeProjectMember: 'DELETE /api/v1/project/user/delete', // X-Project-Id? { api_keys? member_id project_id } → 204 400 401 403 404 409 429 503
  createPixel: 'POST /api/v1/pixel/create', // X-Project-Id? { active? allowed_origins? name project_id settings? } → 201 400 401 403 404 409 429 503
  listPixels: 'GET /api/v1/pixel/list', // X-Project-Id? cursor? limit? project_id? → 200 400 401 403 404 429 503
  getPixel: 'GET /api/v1/pixel/retrieve/{pixel_id}', // X-Project-Id? pixel_id project_id? → 200 400 401 403 404 429 503
  updatePixel: 'PUT /api/v1/pixel/update', // X-Project-Id? { active? allowed_origins? name? pixel_id project_id? settings? version? } → 200 400 401 403 404 409 429 503
  deletePixel: 'DELETE /api/v1/pixel/delete', // X-Project-Id? { events? pixel_id project_id? } → 200 400 401 403 404 409 429 503
  getPixelActivity: 'GET /api/v1/pixel/activity/{pixel_id}', // X-Project-Id? pixel_id project_id? → 200 400 401 403 404 429 503
  getIdentifySecrets: 'GET /api/v1/pixel/identify-secrets/{pixel_id}', // X-Project-Id? pixel_id project_id? → 200 400 401 403 404 429 503
  rotateIdentifySecret: 'POST /api/v1/pixel/identify-secrets/rotate', // X-Project-Id? { pixel_id project_id? } → 200 400 401 403 404 409 429 503
  retireIdentifySecret: 'POST /api/v1/pixel/identify-secrets/retire', // X-Project-Id? { pixel_id project_id? } → 200 400 401 403 404 409 429 503
  whoAmI: 'GET /api/v1/whoami', // → 200 400 401 403 404 429 503
  eraseSubject: 'DELETE /api/v1/privacy/subject', // { cookie_id? email? hem? opt_out? } → 202 400 401 403 404 409 429 503
  exportSubject: 'GET /api/v1/privacy/subject', // cookie_id? email? hem? → 200 400 401 403 404 409 429 503
  listErasures: 'GET /api/v1/privacy/erasures', // cursor? limit? → 200 400 401 403 404 429 503
  getErasure: 'GET /api/v1/privacy/erasures/{erasure_id}', // erasure_id → 200 400 401 403 404 429 503
  listOptOuts: 'GET /api/v1/privacy/opt-outs', // cursor? limit? → 200 400 401 403 404 429 503
  createOptOut: 'POST /api/v1/privacy/opt-outs', // { cookie_id? email? hem? } → 201 400 401 403 404 409 429 503
  deleteOptOut: 'DELETE /api/v1/privacy/opt-outs', // { cookie_id? email? hem? } → 204 400 401 403 404 409 429 503
  listLinkRemovals: 'GET /api/v1/privacy/link-removals', // cursor? limit? → 200 400 401 403 404 429 503
  removeIdentityLink: 'POST /api/v1/privacy/link-removals', // { cookie_id email? hem? } → 202 400 401 403 404 409 429 503
  signIn: 'POST /dashboard/session', // { code? email password } → 200 4XX
  getSession: 'GET /dashboard/session', // → 200 400 401 403 404 503
  switchOrganization: 'PUT /dashboard/session', // { organization_id } → 200 400 401 403 404 503
  signOut: 'DELETE /dashboard/session', // → 204 400 401 403 404 503
  startSingleSignOn: 'POST /dashboard/single-sign-on', // { sign_in_name } → 200 4XX
  getInvitation: 'GET /dashboard/invitation/{token}', // token → 200 4XX
  acceptInvitation: 'POST /dashboard/invitation/{token}', // token { code? name? password? } → 200 409 4XX
  getAccount: 'GET /dashboard/account', // → 200 400 401 403 404 503
  updateAccount: 'PUT /dashboard/account', // { name } → 200 400 401 403 404 409 503
  changePassword: 'PUT /dashboard/password', // { code? current_password new_password } → 204 400 401 403 404 409 429 503
  requestEmailChange: 'POST /dashboard/email-change', // { code? current_password email } → 202 400 401 403 404 429 503
  getEmailChange: 'GET /dashboard/email-change/{token}', // token → 200 4XX
  confirmEmailChange: 'POST /dashboard/email-change/{token}', // token → 200 400 401 403 404 409 503
  listSessions: 'GET /dashboard/sessions', // → 200 400 401 403 404 503
  endOtherSessions: 'DELETE /dashboard/sessions', // → 200 400 401 403 404 409 503
  endSession: 'DELETE /dashboard/sessions/{session_id}', // session_id → 204 400 401 403 404 503
  beginTwoFactor: 'POST /dashboard/two-factor', // { current_password } → 200 400 401 403 404 409 429 503
  confirmTwoFactor: 'PUT /dashboard/two-factor', // { code } → 200 400 401 403 404 409 429 503
  endTwoFactor: 'DELETE /dashboard/two-factor', // { code current_password } → 204 400 401 403 404 409 429 503
  renewRecoveryCodes: 'POST /dashboard/two-factor/recovery-codes', // { code current_password } → 200 400 401 403 404 409 429 503
  requestPasswordReset: 'POST /dashboard/password-reset', // { email } → 202 4XX
  getPasswordReset: 'GET /dashboard/password-reset/{token}', // token → 200 4XX
  resetPassword: 'POST /dashboard/password-reset/{token}', // token { password } → 200 409 4XX
  getOwnNetwork: 'GET /dashboard/network', // → 200 400 401 403 404 503
  listApiKeys: 'GET /dashboard/keys', // X-Project-Id? project_id? → 200 400 401 403 404 503
  createApiKey: 'POST /dashboard/keys', // X-Project-Id? { expires_at? mode name project_id? role? } → 201 400 401 403 404 409 503
  revokeApiKey: 'DELETE /dashboard/keys/{key_id}', // key_id → 204 400 401 403 404 409 503
  listAuditLog: 'GET /dashboard/audit', // cursor? limit? → 200 400 401 403 404 503
  logIn: 'POST /auth/v1/login', // { code? email password } → 200 4XX
  getEmailSummary: 'GET /dashboard/email-summary', // X-Project-Id? project_id → 200 400 401 403 404 503
  setEmailSummary: 'PUT /dashboard/email-summary', // X-Project-Id? { frequency project_id } → 200 400 401 403 404 503
  unsubscribe: 'POST /unsubscribe/{token}', // token → 200 4XX
  getOperatorStatus: 'GET /dashboard/operator/status', // → 200 400 401 403 404 503
  listTopTenants: 'GET /dashboard/operator/tenants', // → 200 400 401 403 404 503
  listDeadLetters: 'GET /dashboard/operator/dead-letters', // → 200 400 401 403 404 409 503
  replayDeadLetters: 'POST /dashboard/operator/dead-letters/replay', // → 200 400 401 403 404 409 503
  listLists: 'GET /api/v1/lists', // X-Project-Id? audience_id? campaign_id? cursor? limit? project_id? → 200 400 401 403 404 429 503
  createList: 'POST /api/v1/lists?column', // X-Project-Id? column? kind? name? project_id? { items kind name project_id? } → 202 400 401 403 404 409 413 415 429 503
  getList: 'GET /api/v1/lists/{list_id}', // X-Project-Id? list_id project_id? → 200 400 401 403 404 429 503
  updateList: 'PATCH /api/v1/lists/{list_id}?project_id', // X-Project-Id? list_id project_id? { name? version? } → 200 400 401 403 404 409 429 503
  deleteList: 'DELETE /api/v1/lists/{list_id}?project_id', // X-Project-Id? list_id project_id? → 204 400 401 403 404 409 429 503
  listListImports: 'GET /api/v1/lists/{list_id}/imports', // X-Project-Id? cursor? limit? list_id project_id? → 200 400 401 403 404 429 503
  getListImport: 'GET /api/v1/lists/{list_id}/imports/{import_id}', // X-Project-Id? import_id list_id project_id? → 200 400 401 403 404 429 503
  listRejectedLines: 'GET /api/v1/lists/{list_id}/imports/{import_id}/rejected', // X-Project-Id? cursor? import_id limit? list_id project_id? → 200 400 401 403 404 409 429 503
  removeListItems: 'DELETE /api/v1/lists/{list_id}/items?project_id', // X-Project-Id? list_id project_id? { items } → 200 400 401 403 404 409 429 503
  addListItems: 'POST /api/v1/lists/{list_id}/items?project_id&column', // X-Project-Id? column? list_id project_id? { items } → 202 400 401 403 404 409 413 415 429 503
  listCampaigns: 'GET /api/v1/campaigns', // X-Project-Id? audience_id? campaign_id? cursor? limit? project_id? status? → 200 400 401 403 404 429 503
  createCampaign: 'POST /api/v1/campaigns', // X-Project-Id? { audience_id? budget? end_date? name project_id? start_date status? } → 201 400 401 403 404 409 429 503
  getCampaign: 'GET /api/v1/campaigns/{campaign_id}', // X-Project-Id? campaign_id project_id? → 200 400 401 403 404 429 503
  updateCampaign: 'PATCH /api/v1/campaigns/{campaign_id}?project_id', // X-Project-Id? campaign_id project_id? { audience_id? budget? end_date? name? start_date? status? version? } → 200 400 401 403 404 409 429 503
  getCampaignPerformance: 'GET /api/v1/campaigns/{campaign_id}/performance', // X-Project-Id? campaign_id end_date? project_id? start_date? → 200 400 401 403 404 429 503
  getPerformanceSummary: 'GET /api/v1/campaigns/performance-summary', // X-Project-Id? audience_id? campaign_id? cursor? end_date? limit? project_id? start_date? status? → 200 400 401 403 404 429 503
  getCampaignBudgetStatus: 'GET /api/v1/campaigns/{campaign_id}/budget-status', // X-Project-Id? campaign_id project_id? → 200 400 401 403 404 429 503
  getBudgetSummary: 'GET /api/v1/campaigns/budget-summary', // X-Project-Id? audience_id? campaign_id? cursor? limit? project_id? status? → 200 400 401 403 404 429 503
  createWebhook: 'POST /api/v1/webhooks', // X-Project-Id? { description? enabled? event_types project_id? url } → 201 400 401 403 404 409 429 503
  listWebhooks: 'GET /api/v1/webhooks', // X-Project-Id? cursor? limit? project_id? → 200 400 401 403 404 429 503
  getWebhook: 'GET /api/v1/webhooks/{webhook_id}', // X-Project-Id? project_id? webhook_id → 200 400 401 403 404 429 503
  updateWebhook: 'PATCH /api/v1/webhooks/{webhook_id}?project_id', // X-Project-Id? project_id? webhook_id { description? enabled? event_types? url? version? } → 200 400 401 403 404 409 429 503
  deleteWebhook: 'DELETE /api/v1/webhooks/{webhook_id}?project_id', // X-Project-Id? project_id? webhook_id → 204 400 401 403 404 409 429 503
  rotateWebhookSecret: 'POST /api/v1/webhooks/{webhook_id}/secret/rotate?project_id', // X-Project-Id? project_id? webhook_id → 200 400 401 403 404 409 429 503
  listWebhookDeliveries: 'GET /api/v1/webhooks/{webhook_id}/deliveries', // X-Project-Id? cursor? limit? project_id? status? webhook_id → 200 400 401 403 404 429 503
  testWebhook: 'POST /api/v1/webhooks/{webhook_id}/test?project_id', // X-Project-Id? project_id? webhook_id → 202 400 401 403 404 409 429 503
  replayWebhookDelivery: 'POST /api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/replay?project_id', // X-Project-Id? delivery_id project_id? webhook_id → 202 400 401 403 404 409 429 503
  replayFailedWebhookDeliveries: 'POST /api/v1/webhooks/{webhook_id}/replay?project_id', // X-Project-Id? project_id? webhook_id { since } → 202 400 401 403 404 409 429 503
  listVisitAlerts: 'GET /api/v1/visit-alerts', // X-Project-Id? project_id → 200 400 401 403 404 429 503
  createVisitAlert: 'POST /api/v1/visit-alerts', // X-Project-Id? { active? chat_url? match member_ids? name project_id tier unverified_charges_max? } → 201 400 401 403 404 409 429 503
  getVisitAlert: 'GET /api/v1/visit-alerts/{visit_alert_id}', // X-Project-Id? project_id? visit_alert_id → 200 400 401 403 404 429 503
  updateVisitAlert: 'PATCH /api/v1/visit-alerts/{visit_alert_id}?project_id', // X-Project-Id? project_id? visit_alert_id { active? chat_url? match? member_ids? name? tier? unverified_charges_max? version? } → 200 400 401 403 404 409 429 503
  deleteVisitAlert: 'DELETE /api/v1/visit-alerts/{visit_alert_id}?project_id', // X-Project-Id? project_id? visit_alert_id → 204 400 401 403 404 409 429 503
  listArchives: 'GET /api/v1/archives', // X-Project-Id? project_id → 200 400 401 403 404 429 503
  createArchive: 'POST /api/v1/archives', // X-Project-Id? { active? daily_records_max? integration_id project_id starts_at? } → 201 400 401 403 404 409 429 503
  getArchive: 'GET /api/v1/archives/{archive_id}', // X-Project-Id? archive_id project_id? → 200 400 401 403 404 429 503
  updateArchive: 'PATCH /api/v1/archives/{archive_id}?project_id', // X-Project-Id? archive_id project_id? { active? daily_records_max? version? } → 200 400 401 403 404 409 429 503
  deleteArchive: 'DELETE /api/v1/archives/{archive_id}?project_id', // X-Project-Id? archive_id project_id? → 204 400 401 403 404 409 429 503
  listIntegrations: 'GET /api/v1/integrations', // X-Project-Id? audience_id? campaign_id? cursor? limit? project_id? type? → 200 400 401 403 404 429 503
  createIntegration: 'POST /api/v1/integrations', // X-Project-Id? { name project_id? secrets settings type } → 201 400 401 403 404 409 429 503
  getIntegration: 'GET /api/v1/integrations/{integration_id}', // X-Project-Id? integration_id project_id? → 200 400 401 403 404 429 503
  updateIntegration: 'PATCH /api/v1/integrations/{integration_id}?project_id', // X-Project-Id? integration_id project_id? { name? secrets? settings? version? } → 200 400 401 403 404 409 429 503
  deleteIntegration: 'DELETE /api/v1/integrations/{integration_id}?project_id', // X-Project-Id? integration_id project_id? → 204 400 401 403 404 409 429 503
  checkIntegration: 'POST /api/v1/integrations/{integration_id}/check?project_id', // X-Project-Id? integration_id project_id? → 200 400 401 403 404 429 503
  checkIntegrationByGet: 'GET /api/v1/integrations/{integration_id}/check', // X-Project-Id? integration_id project_id? → 200 400 401 403 404 429 503
  createExport: 'POST /api/v1/exports', // X-Project-Id? { audience_id? daily_records_max? integration_id integration_type? list_id? mapping? name output_format project_id? schedule? } → 201 400 401 403 404 409 429 503
  listExports: 'GET /api/v1/exports', // X-Project-Id? audience_id? campaign_id? cursor? limit? project_id? → 200 400 401 403 404 429 503
  getExport: 'GET /api/v1/exports/{export_id}', // X-Project-Id? export_id project_id? → 200 400 401 403 404 429 503
  updateExport: 'PATCH /api/v1/exports/{export_id}?project_id', // X-Project-Id? export_id project_id? { daily_records_max? integration_id? integration_type? mapping? name? output_format? schedule? version? } → 200 400 401 403 404 409 429 503
  deleteExport: 'DELETE /api/v1/exports/{export_id}?project_id', // X-Project-Id? export_id project_id? → 204 400 401 403 404 409 429 503
  listExportRuns: 'GET /api/v1/exports/{export_id}/runs', // X-Project-Id? cursor? export_id limit? project_id? → 200 400 401 403 404 429 503
  createExportRun: 'POST /api/v1/exports/{export_id}/runs?project_id', // X-Project-Id? export_id project_id? → 201 400 401 403 404 409 429 503
  getExportRun: 'GET /api/v1/exports/{export_id}/runs/{run_id}', // X-Project-Id? export_id project_id? run_id → 200 400 401 403 404 429 503
  listExportFailures: 'GET /api/v1/exports/{export_id}/runs/{run_id}/failures', // X-Project-Id? cursor? export_id limit? outcome? project_id? run_id → 200 400 401 403 404 429 503
  retryExportRun: 'POST /api/v1/exports/{export_id}/runs/{run_id}/retry?project_id', // X-Project-Id? export_id project_id? run_id → 201 400 401 403 404 409 429 503
  cancelExportRun: 'POST /api/v1/exports/{export_id}/runs/{run_id}/cancel?project_id', // X-Project-Id? export_id project_id? run_id → 200 400 401 403 404 409 429 503
} satisfies Record<OperationId, string>
