import { Type } from 'typebox'
import { Id, Name, Nullable, strictObject, Timestamp } from '../../api/http/commonSchemas.ts'

/** The maximum lifetime of a share link, in days. */
export const daysMax = 366
export const passwordLengthMax = 200
const passwordLengthMin = 8
/** The maximum number of origins that may embed a link. */
const originsMax = 20

export const ShareLink = Type.Object(
  {
    share_id: Id,
    name: Type.String({ description: 'Name of the share link. Viewers of the link see it.' }),
    project_id: Id,
    project_name: Type.String(),
    pixel_id: Nullable(Id, {
      description: 'Pixel of the share link. Null: all pixels of the project.',
    }),
    pixel_name: Nullable(Type.String()),
    created_at: Timestamp,
    created_by: Nullable(
      Type.String({
        description:
          'Name of the API key, or e-mail address of the member. Null for viewers of the link.',
      }),
    ),
    expires_at: Timestamp,
    segment_name: Nullable(Type.String(), {
      description: 'The segment that its figures are limited to. Null: all visitors.',
    }),
    filter: Nullable(Type.String(), {
      description: 'The filter of that segment, as it was. Null for viewers of the link.',
    }),
    has_goals: Type.Boolean({ description: 'Whether the link also shows the goals.' }),
    has_password: Type.Boolean({ description: 'Whether viewers must enter a password.' }),
    embed_origins: Type.Array(Type.String(), {
      description:
        'The origins whose pages may show the link in a frame. Empty for viewers of the link.',
    }),
    url: Nullable(Type.String(), {
      description: 'The URL to share. Null for viewers of the link, or if it was not stored.',
    }),
    last_used_at: Nullable(Timestamp, {
      description: 'Time of the last use, rounded to the minute. Null for viewers of the link.',
    }),
  },
  { title: 'ShareLink' },
)

export const NewShareLink = strictObject({
  project_id: Id,
  pixel_id: Type.Optional(Nullable(Id)),
  name: Name,
  expires_at: Type.Unsafe<string>({
    ...Timestamp,
    description: `End of the share link: in the future, at most ${daysMax} days from now.`,
  }),
  segment_id: Type.Optional(
    Nullable(Id, {
      description:
        'A segment that all figures are limited to. Later changes of the segment do not change the link.',
    }),
  ),
  goals: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether the link also shows the goals.' }),
  ),
  password: Type.Optional(
    Nullable(Type.String({ minLength: passwordLengthMin, maxLength: passwordLengthMax }), {
      description: 'A password that viewers must enter.',
    }),
  ),
  embed_origins: Type.Optional(
    Type.Array(Type.String({ maxLength: 300 }), {
      maxItems: originsMax,
      description: 'The origins whose pages may show the link in a frame.',
      examples: [['https://intranet.example']],
    }),
  ),
})
