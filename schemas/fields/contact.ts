import { profileFields } from './profileField.ts'
import { departments, emailStatuses, seniorities } from './vocabulary.ts'

const { text, address, label, integer, flag, time } = profileFields(
  'contact',
  'resolution_full_profile',
)

/** Name, contact data and profession of a person. */
export const contactFields = [
  text('first_name', 'Given name.'),
  text('middle_name', 'Middle name or initial.'),
  text('last_name', 'Family name.'),
  text('full_name', 'Full name, as written.'),
  address('email', 'Preferred address: the business e-mail, otherwise the personal one.'),
  label('email_status', 'Whether mail to `email` is delivered.', emailStatuses),
  time('email_verified_at', 'Time when `email` was last verified.'),
  address('business_email', 'E-mail address at the company’s domain.'),
  address('personal_email', 'E-mail address at a mail provider.'),
  text('additional_emails', 'Other e-mail addresses, separated by commas.'),
  text(
    'phone',
    'Preferred phone number: direct, otherwise mobile, otherwise home. All numbers are in E.164 format.',
  ),
  text('direct_phone', 'Direct business number.'),
  text('mobile_phone', 'Mobile number.'),
  flag('do_not_call', 'True if a number of the person is on a do-not-call list.'),
  text('home_phone', 'Home number.'),
  text('linkedin_url', 'LinkedIn profile.'),
  text('linkedin_headline', 'Headline on LinkedIn.'),
  text('twitter_url', 'X (Twitter) profile.'),
  text('facebook_url', 'Facebook profile.'),
  text('github_url', 'GitHub profile.'),
  text('job_title', 'Current job title, as the person writes it.'),
  label('job_seniority', 'Seniority of the position.', seniorities),
  label('job_department', 'Department of the company in which the person works.', departments),
  label('job_function', 'Function of the person within the department.'),
  flag('job_is_decision_maker', 'True if the person decides about purchases of the department.'),
  integer('job_start_year', 'Year in which the person started the current position.'),
  text('job_city', 'City of the office.'),
  label('job_region', 'State or province of the office.'),
  label('job_country', 'Country of the office, ISO 3166-1 alpha-2.'),
  text('previous_job_title', 'Title at the previous company.'),
  text('previous_company_name', 'Name of the previous company.'),
  integer('years_of_experience', 'Years of work experience.'),
  text('skills', 'Skills that the person lists, separated by commas.'),
]
