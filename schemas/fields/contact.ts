import { profileFields } from './profileField.ts'
import { departments, emailStatuses, seniorities } from './vocabulary.ts'

const { text, address, label, integer, flag, time } = profileFields(
  'contact',
  'resolution_full_profile',
)

/** Who the person is, how they are reached, and what they do for a living. */
export const contactFields = [
  text('first_name', 'Given name.'),
  text('middle_name', 'Middle name or its initial.'),
  text('last_name', 'Family name.'),
  text('full_name', 'The whole name as it is written.'),
  address('email', 'The best address to write to: the business e-mail, else the personal one.'),
  label('email_status', 'Whether mail to email arrives.', emailStatuses),
  time('email_verified_at', 'When email was last seen to work.'),
  address('business_email', 'E-mail address at the company’s domain.'),
  address('personal_email', 'E-mail address at a mail provider.'),
  text('additional_emails', 'Further addresses, separated by commas.'),
  text('phone', 'The best number to call: direct, else mobile, else home; E.164 like all numbers.'),
  text('direct_phone', 'Number at the person’s desk.'),
  text('mobile_phone', 'Mobile number.'),
  flag('do_not_call', 'True when a number of the person is on a do-not-call list.'),
  text('home_phone', 'Number at home.'),
  text('linkedin_url', 'LinkedIn profile.'),
  text('linkedin_headline', 'The line below the name on LinkedIn.'),
  text('twitter_url', 'X (Twitter) profile.'),
  text('facebook_url', 'Facebook profile.'),
  text('github_url', 'GitHub profile.'),
  text('job_title', 'Title at the present company, as the person writes it.'),
  label('job_seniority', 'How high the position is.', seniorities),
  label('job_department', 'The part of the company the person works in.', departments),
  label('job_function', 'What the person does there, finer than the department.'),
  flag(
    'job_is_decision_maker',
    'True when purchases of the department are the person’s to decide.',
  ),
  integer('job_start_year', 'Year in which the person took the position.'),
  text('job_city', 'City of the office.'),
  label('job_region', 'State or province of the office.'),
  label('job_country', 'Country of the office, ISO 3166-1 alpha-2.'),
  text('previous_job_title', 'Title at the company before.'),
  text('previous_company_name', 'The company before.'),
  integer('years_of_experience', 'Years in working life.'),
  text('skills', 'Skills the person claims, separated by commas.'),
]
