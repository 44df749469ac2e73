export const access = {
  to: 'key',
  projectKeys: 'refused',
  keyRole: 'admin',
  limit: 'data',
  members: true,
} as const
