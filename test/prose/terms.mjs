/** Names as their owners spell them, for textlint-rule-terminology. */
export const terms = [
  'ClickHouse',
  'PostgreSQL',
  'JavaScript',
  'TypeScript',
  'GitHub',
  'OpenAPI',
  'WebKit',
  'HubSpot',
  'WordPress',
  'Shopify',
  'Docker',
  'Kubernetes',
  ['Node\\.?js', 'Node.js'],
]
