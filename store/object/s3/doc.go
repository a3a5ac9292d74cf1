// Package s3 stores objects in a bucket of a service that speaks the S3
// protocol. Names and bytes come in and become objects below a prefix; each is
// stored by one request, or in parts that a last request puts together, so it is
// there whole or not at all. A service that does not answer, or answers with
// something else, is an error that names the object.
//
// Where the service is and who may use it stands in the environment, as its
// other clients have it: AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, AWS_REGION,
// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, or a profile in
// the files that these clients share.
package s3
