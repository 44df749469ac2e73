import { type Static, Type } from 'typebox'
import {
  Name,
  Nullable,
  SeenVersion,
  strictObject,
  Timestamp,
  Version,
} from '../../api/http/commonSchemas.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { OrganizationRole } from '../accountSchemas.ts'

const SignInName = Type.String({
  minLength: 2,
  maxLength: 63,
  pattern: '^[a-z0-9][a-z0-9-]*$',
  description: 'What people enter on the sign-in page. Unique in this service.',
  examples: ['acme'],
})
const GroupRole = strictObject({ group: Name, role: OrganizationRole })

const fields = {
  sign_in_name: SignInName,
  provider_name: Name,
  issuer: Type.String({
    format: 'uri',
    maxLength: 500,
    description: 'The issuer of the provider, an https address.',
    examples: ['https://login.example.com'],
  }),
  client_id: Type.String({ minLength: 1, maxLength: 500 }),
  email_domains: Type.Array(
    Type.String({ maxLength: 253, pattern: '^[a-z0-9.-]+\\.[a-z0-9-]+$' }),
    {
      minItems: 1,
      maxItems: 50,
      description:
        'Only people with a verified e-mail address of these domains can sign in through the provider.',
      examples: [['example.com']],
    },
  ),
  group_roles: Type.Array(GroupRole, {
    maxItems: 100,
    description:
      'The role for members of each group. A person in several groups gets the highest role.',
  }),
  default_role: Nullable(Type.Union([Type.Literal('admin'), Type.Literal('member')]), {
    description:
      'The role of people in none of the groups. With `group_roles`, every sign-in sets it; without, only the first. `null` refuses people in none of the groups; a member among them loses their keys and sessions.',
  }),
  required: Type.Boolean({
    description:
      'Whether members must sign in through the provider. The emergency owner can always use a password. API keys are not affected.',
  }),
  emergency_member_id: Type.String({
    format: 'uuid',
    description: 'The owner who keeps a password. Groups do not change this owner’s role.',
  }),
}
const group_claim = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'The claim that lists the groups of a person.',
})

export const SingleSignOnInput = strictObject({
  ...fields,
  group_claim: Type.Optional(Type.String({ ...group_claim, default: 'groups' })),
  client_secret: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2000,
      description: 'Required at first. Later, omit it to keep the stored secret.',
    }),
  ),
  version: SeenVersion,
})

export const SingleSignOn = Type.Object(
  {
    ...fields,
    group_claim,
    redirect_uri: Type.String({
      description: 'Register this address as the redirect URI of the client at the provider.',
    }),
    version: Version,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'SingleSignOn' },
)
export type SingleSignOn = Static<typeof SingleSignOn>

/** The settings of a provider and of its members, with the sealed secret of the client. */
export interface StoredSingleSignOn extends Omit<Static<typeof SingleSignOnInput>, 'version'> {
  organization_id: string
  group_claim: string
  client_secret: string
  emergency_member_id: string
  version: number
  created_at: string
  updated_at: string
}

/** The purpose for which the secret of an organization's client is sealed. */
export const secretPurpose = (organizationId: string): string => `single_sign_on:${organizationId}`

/** The redirect address of an organization. Each has its own, so no provider receives codes of another. */
export const redirectUriOf = (publicUrl: string, organizationId: string): string =>
  `${publicUrl}/dashboard/single-sign-on/callback/${organizationId}`

/** The settings of an organization, by its id or by the name that users enter; undefined without settings. */
export async function readSingleSignOn(
  client: Queryable,
  by: { organizationId: string } | { signInName: string },
): Promise<StoredSingleSignOn | undefined> {
  const [column, value] =
    'organizationId' in by
      ? ['organization_id', by.organizationId]
      : ['sign_in_name', by.signInName]
  const [settings] = await readRecords<StoredSingleSignOn>(
    client,
    `SELECT * FROM single_sign_on WHERE ${column} = $1`,
    [value],
  )
  return settings
}

/** The settings as answers have them: without the secret. */
export function toSingleSignOn(
  { organization_id, client_secret, ...stored }: StoredSingleSignOn,
  publicUrl: string,
): SingleSignOn {
  return {
    ...stored,
    redirect_uri: redirectUriOf(publicUrl, organization_id),
  }
}
