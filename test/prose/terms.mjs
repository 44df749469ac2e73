/** Names as their owners spell them. */
const names = [
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
  'Node.js',
]

const patterns = names.map((name) => ({
  name,
  // Not within an address, a path or a name of a package.
  words: new RegExp(`(?<![\\w./@:-])${name.replace('.', '\\.?')}(?![\\w/:-]|\\.\\w)`, 'gi'),
}))

/** Returns messages about names that are spelled in another way. */
export const misspelledNames = (text) =>
  patterns.flatMap(({ name, words }) =>
    [...text.matchAll(words)]
      .filter(([match]) => match !== name)
      .map(([match]) => `"${match}": write ${name}`),
  )
