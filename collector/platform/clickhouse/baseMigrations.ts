/**
 * The earlier migrations that the base replaced, each with the tables whose folder in Keeper is named after
 * it. Replicas find each other by this folder, so it must stay the same.
 */
const tablesOf: Readonly<Record<string, readonly string[]>> = {
  '001_events.sql': ['events', 'events_local'],
  '002_rejected_events.sql': ['rejected_events'],
  '003_identity_links.sql': [],
  '004_identity.sql': ['profiles', 'profile_rows', 'companies', 'company_networks'],
  '006_projects.sql': [],
  '007_dsp.sql': [],
  '008_privacy.sql': ['opt_outs'],
  '009_identity_loading.sql': ['identity_links', 'identity_loads'],
  '010_home_language.sql': [],
  '011_unknown_is_null.sql': [],
  '012_refused_beacons.sql': [],
  '014_audiences.sql': ['audience_members', 'audience_leaf_days'],
  '030_intent.sql': [
    'intent_topics',
    'intent_signals',
    'intent_signals_by_person',
    'intent_event_days',
    'intent_event_runs',
  ],
  '040_lists.sql': ['list_members', 'list_rejected_lines'],
  '095_api_requests.sql': ['api_requests'],
  '115_analytics_days.sql': [
    'analytics_visitors',
    'analytics_days',
    'analytics_session_days',
    'analytics_runs',
  ],
  '135_duplicate_events.sql': ['duplicate_events'],
  '175_events_by_hour.sql': [],
}

/** The migrations that create the schema, and the earlier ones that they replaced (appliedMigrations.ts). */
export const base = {
  names: ['001_collection.sql', '002_people.sql', '003_audiences.sql', '004_analytics.sql'],
  replaced: Object.keys(tablesOf),
}

/**
 * Returns the folder of a table in Keeper: the name of its migration, or for a base table that of the
 * replaced migration.
 */
export function keeperFolder(migration: string, table: string): string {
  const replaced = base.replaced.find((name) => tablesOf[name]!.includes(table))
  const isOfBase = base.names.includes(migration)
  return ((isOfBase && replaced) || migration).replace(/\.sql$/, '')
}
