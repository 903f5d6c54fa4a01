/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of redaction: what is taken out, what stays, and that neither depends on how the text comes. No token here is real. */
#include "agent/redact.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_json_out.h"

#define R "[REDACTED]"
/* shapes are put together, so that no scanner takes this file for a leak */
#define N20 "a1B2c3D4e5F6g7H8i9J0"
#define N40 N20 N20
#define B64 "MIIEowIBAAKCAQEA7bq8m1ZkQk0yS5v2/9xT4u+Yw3hJrPzLc6Nd8aXgOfKeVtUs"
#define DASH "-----"
#define BEGIN DASH "BEGIN RSA PRIVATE" " KEY" DASH
#define END DASH "END RSA PRIVATE" " KEY" DASH

struct row {
	const char *in;
	const char *want; /* NULL: stays as it is */
};

static char *redacted(const char *in, size_t n, size_t piece, unsigned long *count)
{
	struct ak_buf out = { 0 };
	struct redact *r = malloc(sizeof(*r));

	ck_assert_ptr_nonnull(r);
	redact_init(r, &out);
	for (size_t at = 0; at < n; at += piece)
		redact_feed(r, in + at, n - at < piece ? n - at : piece);
	redact_finish(r);
	if (count)
		*count = r->count;
	free(r);
	ck_assert(!out.failed);
	ak_buf_add(&out, "", 0);
	return out.data ? out.data : strdup("");
}

static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *want = rows[i].want ? rows[i].want : rows[i].in;
		size_t len = strlen(rows[i].in);
		char *got = redacted(rows[i].in, len, len ? len : 1, NULL);
		char *again;

		ck_assert_msg(strcmp(got, want) == 0, "row %zu\n in   %s\n got  %s\n want %s", i, rows[i].in, got, want);
		again = redacted(got, strlen(got), 4096, NULL);
		ck_assert_msg(strcmp(got, again) == 0, "twice: %s\n got  %s", got, again);
		free(again);
		free(got);
		for (size_t piece = 1; piece < len; piece = piece < 12 ? piece + 1 : piece * 2) {
			got = redacted(rows[i].in, len, piece, NULL);
			ck_assert_msg(strcmp(got, want) == 0, "row %zu in pieces of %zu\n got  %s\n want %s", i, piece, got, want);
			free(got);
		}
	}
}

#define CHECK(rows) check_rows(rows, sizeof(rows) / sizeof((rows)[0]))

START_TEST(tokens_go_by_their_shape)
{
	static const struct row rows[] = {
		{ "sk-ant-" "api03-" N20, R },
		{ "x sk-ant-" "REDACTME12 y", "x " R " y" },
		{ "(sk-" "proj-" N20 "_-x)", "(" R ")" },
		{ "sk-" "abcdefghijklmnopqrstuvwxyz", R },
		{ "sk-" "1234567890abcdef", R },
		{ "ghp_" N40 "\n", R "\n" },
		{ "gho_" N40, R },
		{ "ghs_" N40, R },
		{ "ghr_" N40, R },
		{ "ghu_" N40, R },
		{ "github_" "pat_11ABCDEFG0abcdefghijkl_" N40, R },
		{ "glpat-" "x_y-z1234567890abcde", R },
		{ "xoxb-" "123456789012-" N20, R },
		{ "xoxp-" "1-2-3-abcdef0123", R },
		{ "AKIA" "IOSFODNN7EXAMPLE", R },
		{ "id AKIA" "IOSFODNN7EXAMPLE, then", "id " R ", then" },
		{ "AIza" "SyD-abcdefghijklmnopqrstuvwxyz01234", R },
		{ "hf_" "abcdefghijklmnopqrstuvwxyzABCDEFGH", R },
		{ "sk_" "live_" N20, R },
		{ "rk_" "live_" N20, R },
		{ "https://x:ghp_" N40 "@github.com/a/b", "https://x:" R "@github.com/a/b" },
		{ "\"text\\nsk-" N20 "\"", "\"text\\n" R "\"" },
		{ "Bearer%20sk-" N20, "Bearer%20" R },
		{ "two: ghp_" N20 " ghp_" N20, "two: " R " " R },
	};

	CHECK(rows);
}
END_TEST

START_TEST(words_that_look_a_little_like_tokens_stay)
{
	static const struct row rows[] = {
		{ "task-force and risk-management-2024-plan-b", NULL },
		{ "disk-image-2024-01-01-backup.tar", NULL },
		{ "class=\"sk-fading-circle sk-circle12\"", NULL },
		{ "import sk-learn", NULL },
		{ "ghp_is_a_prefix_of_tokens", NULL },
		{ "ghs_handle_request_v2_init(void)", NULL },
		{ "from huggingface import hf_hub_download_something", NULL },
		{ "self.hf_model_name_or_path_of_model", NULL },
		{ "AKIA is the prefix", NULL },
		{ "AKIAabc", NULL },
		{ "AIza", NULL },
		{ "xoxo-hugs", NULL },
		{ "xoxb-short", NULL },
		{ "risk_live_dashboardview", NULL },
		{ "sk_live_mode", NULL },
		{ "glpat-short", NULL },
		{ "sk-", NULL },
		{ "github_pat_", NULL },
		{ "s", NULL },
		{ "", NULL },
	};

	CHECK(rows);
}
END_TEST

START_TEST(labelled_values_go_and_labels_stay)
{
	static const struct row rows[] = {
		{ "API_KEY=abcdefghijkl", "API_KEY=" R },
		{ "API_KEY=abcdefghijk", NULL }, /* eleven */
		{ "password=hunter2hunter2\n", "password=" R "\n" },
		{ "password = hunter2hunter2\n", "password = " R "\n" },
		{ "password: hunter2hunter2\nuser: me", "password: " R "\nuser: me" },
		{ "password: correcthorsebattery\n", "password: " R "\n" },
		{ "  password: my_secret_password\n", "  password: " R "\n" },
		{ "password = correcthorsebattery", "password = " R },
		{ "export DB_PASSWORD='p@ss w0rd with spaces'", "export DB_PASSWORD='" R "'" },
		{ "\"client_secret\": \"abc-def.ghi~jkl\",", "\"client_secret\": \"" R "\"," },
		{ "{\"token\":\"abcdefghijklmno\",\"n\":1}", "{\"token\":\"" R "\",\"n\":1}" },
		{ "{\\\"api_key\\\": \\\"abcdefghijkl\\\", \\\"n\\\": 1}", "{\\\"api_key\\\": \\\"" R "\\\", \\\"n\\\": 1}" },
		{ "apiKey := \"abcdefghijkl\"", "apiKey := \"" R "\"" },
		{ "apikey='abcdefghijkl'", "apikey='" R "'" },
		{ "--token=abcdefghijkl --other", "--token=" R " --other" },
		{ "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_secret_access_key = " R },
		{ "secret=/x8JkAq+zzT0abcdefgh12345678", "secret=" R },
		{ "?api_key=abcdefghijkl&x=1", "?api_key=" R "&x=1" },
		{ "env[\"API_KEY\"] = \"abcdefghijkl\"", "env[\"API_KEY\"] = \"" R "\"" },
		{ "const char password[32] = \"abcdefghijkl\";", "const char password[32] = \"" R "\";" },
		{ "const char *api_key = \"abcdefghijkl\";", "const char *api_key = \"" R "\";" },
		{ "api_key: str = \"abcdefghijkl\"", "api_key: str = \"" R "\"" },
		{ "token: Optional[str] = 'abcdefghijkl'", "token: Optional[str] = '" R "'" },
		{ ":password => \"abcdefghijkl\"", ":password => \"" R "\"" },
		{ "key = b\"abcdefghijkl\"", "key = b\"" R "\"" },
		{ "key = \"\"\"abcdefghijkl\"\"\"", "key = \"\"\"" R "\"\"\"" },
		{ "TOKEN ?= abcdefghijkl", "TOKEN ?= " R },
		{ "TOKEN := abcdefghijkl", "TOKEN := " R },
		{ "PASSWORD=ab&defghijklmn(x", "PASSWORD=" R },
		{ "PASSWORD=abc(def)123456", "PASSWORD=" R },
		{ "X-Api-Key: abcdefghijkl\r\n", "X-Api-Key: " R "\r\n" },
		{ "password=\"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\"", "password=\"" R "\"" },
		{ "password=\"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4\xc3\xb6\"", NULL }, /* twelve bytes, six characters */
		{ "password = \"unterminated12345", "password = \"" R },
		{ "secret = \"a\\\"bcdefghijkl\" + x", "secret = \"" R "\" + x" },
		{ "if token == \"abcdefghijk1\":", "if token == \"" R "\":" },
		{ "key: 123456789012", "key: " R },
		{ "password: \"correct horse battery\"", "password: \"" R "\"" },
		{ "monkey_key=abcdefghijkl", "monkey_key=" R },
		{ "PRIVATEKEY=abcdefghijkl", "PRIVATEKEY=" R },
		{ "a token=abcdefgh12345 b", "a token=" R " b" },
		{ "key = \"some_function_name\"", "key = \"" R "\"" },
		{ "+API_TOKEN=abcdefghijkl", "+API_TOKEN=" R },
	};

	CHECK(rows);
}
END_TEST

START_TEST(code_and_prose_with_such_names_stay)
{
	static const struct row rows[] = {
		{ "key = some_function_name(a, b)", NULL },
		{ "key = some_function_name(", NULL },
		{ "token = lexer.next_token()", NULL },
		{ "token = lexer->current_token;", NULL },
		{ "token = current_token_value;", NULL },
		{ "let token = currentTokenValue;", NULL },
		{ "password = hashed_password", NULL },
		{ "password: req.body.password,", NULL },
		{ "foo(key=some_identifier, token=other_identifier)", NULL },
		{ ".key = some_default_value,", NULL },
		{ "key: HashMap<String, Vec<u8>>,", NULL },
		{ "token: AccessTokenType;", NULL },
		{ "  token: AccessTokenType\n", NULL },
		{ "{'key': some_variable_name}", NULL },
		{ "key = &config->private_key;", NULL },
		{ "key = *iterator_value;", NULL },
		{ "key = sha256_digest_value;", NULL },
		{ "key = entries[index]", NULL },
		{ "key = items_by_name[0]", NULL },
		{ "monkey = abcdefghijkl1", NULL },
		{ "hockey: abcdefghijkl1", NULL },
		{ "keyboard = abcdefghijkl1", NULL },
		{ "max_tokens: 1234567890123", NULL },
		{ "tokenizer = \"abcdefghijklmnop\"", NULL },
		{ "secret_name: abcdefghijklmnop1", NULL },
		{ "token=$OTHER_TOKEN_VALUE", NULL },
		{ "token=${OTHER_TOKEN:-default_value}", NULL },
		{ "token=$(get_token_from_env)", NULL },
		{ "password: \"${DATABASE_PASSWORD}\"", NULL },
		{ "password: {{ vault_database_password }}", NULL },
		{ "token: <your-token-goes-here>", NULL },
		{ "key: ${{ runner.os }}-node-modules", NULL },
		{ "key = f\"{prefix}-{suffix}-v1\"", NULL },
		{ "key = `user:${id}:profile`", NULL },
		{ "key = \"user-{}-profile-page\"", NULL },
		{ "ssl_key = /etc/ssl/private/server1.key", NULL },
		{ "key: ./certs/server-key.pem", NULL },
		{ "token: https://example.com/oauth/token", NULL },
		{ "Unexpected token: identifier expected here", NULL },
		{ "Wrong password: please try again", NULL },
		{ "error: invalid token: unexpectedly ended in line 3", NULL },
		{ "\"key\": \"a value of several words\"", NULL },
		{ "std::string key = std::to_string(value);", NULL },
		{ "Key::some_function_name", NULL },
		{ "if (key != some_other_value1)", NULL },
		{ "token =~ /abcdefghijklmnop1/", NULL },
		{ "key=", NULL },
		{ "key:\n  abcdefghijklmnop1", NULL },
		{ "key = [1, 2, 3, 4, 5, 6, 7]", NULL },
		{ "eos_token = \"<|endoftext|>\"", NULL },
		{ "password=" R, NULL },
		{ "key=short; next", NULL },
		{ "def getpass(prompt='Password: ', stream=None):", NULL },
		{ "printf(\"Password: \"); sleep(60); x = \"\"", NULL },
		{ "if token == START_ELEMENT:", NULL },
		{ "if key == 'source_traceback':", NULL },
		{ "key = base64.b64decode(auth_info)", NULL },
		{ "nid_key = self._lib.NID_aes_256_cbc", NULL },
		{ "RegEnumKey = win32api.RegEnumKey", NULL },
		{ "/* name:password:uid:gid:gecos:home:shell, passwd(5) */", NULL },
	};

	CHECK(rows);
}
END_TEST

START_TEST(authorization_values_go)
{
	static const struct row rows[] = {
		{ "Authorization: Bearer abcdefgh\n", "Authorization: " R "\n" },
		{ "authorization: Basic dXNlcjpwYXNz\r\nHost: x", "authorization: " R "\r\nHost: x" },
		{ "> Proxy-Authorization: Basic dXNlcjpwYXNz", "> Proxy-Authorization: " R },
		{ "curl -H 'Authorization: Bearer abc.def.ghi' -v", "curl -H 'Authorization: " R "' -v" },
		{ "curl -H \"Authorization: token abc123def456\" -v", "curl -H \"Authorization: " R "\" -v" },
		{ "\"Authorization\": \"Bearer abcdefghijkl\",", "\"Authorization\": \"" R "\"," },
		{ "headers[\"Authorization\"] = \"Bearer abcdefghijkl\"", "headers[\"Authorization\"] = \"" R "\"" },
		{ "Authorization: abcdefghijklmnop\n", "Authorization: " R "\n" },
		{ "Authorization: Digest username=\"Mufasa\", nonce=\"dcd98b7102dd2f0e8b11\", uri=\"/x\"\nnext",
		  "Authorization: " R "\nnext" },
		{ "Authorization: AWS4-HMAC-SHA256 Credential=AKI/20130524/us-east-1, Signature=fe5f80f77d5fa3beca038a248ff027\n",
		  "Authorization: " R "\n" },
		{ "\"a\\nAuthorization: Bearer abcdefgh1\\nb\"", "\"a\\nAuthorization: " R "\\nb\"" },
		{ "\\\"Authorization\\\": \\\"Bearer abcdefgh\\\"}", "\\\"Authorization\\\": \\\"" R "\\\"}" },
	};

	CHECK(rows);
}
END_TEST

START_TEST(code_and_prose_about_authorization_stays)
{
	static const struct row rows[] = {
		{ "headers[\"Authorization\"] = \"Bearer \" + token", NULL },
		{ "Authorization: Bearer ${TOKEN}", NULL },
		{ "Authorization: Bearer $TOKEN", NULL },
		{ "Authorization: Bearer <token>", NULL },
		{ "headers = {'Authorization': f'Bearer {token}'}", NULL },
		{ "Authorization: string;", NULL },
		{ "authorization: req.headers.authorization,", NULL },
		{ "authorization = get_authorization_header(request)", NULL },
		{ "Authorization: see the documentation.", NULL },
		{ "authorization: Optional[str] = None", NULL },
		{ "authorization", NULL },
		{ "Authorization:", NULL },
	};

	CHECK(rows);
}
END_TEST

START_TEST(private_keys_go_whole)
{
	static const struct row rows[] = {
		{ "a\n" BEGIN "\n" B64 "\n" B64 "\nQw==\n" END "\nb\n", "a\n" R "\nb\n" },
		{ BEGIN "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n" B64 "\n" END, R },
		{ DASH "BEGIN PGP PRIVATE" " KEY BLOCK" DASH "\nVersion: 1\n\n" B64 "\n=abcd\n" DASH "END PGP PRIVATE" " KEY BLOCK" DASH "\n", R "\n" },
		{ "{\"key\": 1, \"pem\": \"" BEGIN "\\n" B64 "\\n" B64 "\\n" END "\\n\", \"n\": 1}", "{\"key\": 1, \"pem\": \"" R "\\n\", \"n\": 1}" },
		{ "k.pem:1:" BEGIN "\nk.pem:2:" B64 "\nk.pem:3:" B64 "\nk.pem:4:" END "\nk.txt:1:hi", "k.pem:1:" R "\nk.txt:1:hi" },
		{ "+" BEGIN "\n+" B64 "\n+" END "\n", "+" R "\n" },
		/* a string of a program that goes on in the next line */
		{ "x = '" BEGIN "'#10+\n  '" B64 "'#10+\n  'Qw=='#10+\n  '" END "'#10;\ny", "x = '" R "'#10;\ny" },
		{ "x = \"" BEGIN "\\n\" \\\n  \"" B64 "\\n\" \\\n  \"Qw==\\n\" \\\n  \"" END "\\n\";\ny", "x = \"" R "\\n\";\ny" },
		{ "x = '" BEGIN "' .\n  '" B64 "' .\n  '" END "';\ny", "x = '" R "';\ny" },
		/* cut off: what is no line of a key stays */
		{ BEGIN "\n" B64 "\n" B64, R },
		{ BEGIN "\n" B64 "\n{ \"next\": 1 }\n", R "{ \"next\": 1 }\n" },
		{ BEGIN "\nshort\n" END "\nx", R "\nx" },
	};

	CHECK(rows);
}
END_TEST

/* lines of 64 and of 70 characters, none of which starts as a key does */
#define L1 "q7bq8m1ZkQk0yS5v2/9xT4u+Yw3hJrPzLc6Nd8aXgOfKeVtUsEowIBAAKCAQEAq1"
#define L2 "Zx8vB2nM5kLpQ0wErTyUiOaSdFgHjKlZxCvBnM1234567890+/qWeRtYuIoPaSdF"
#define L3 "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3AbCdEfGhIjKlMnOpQrStUvWx"
#define L4 "Yz9YxW8vUt7sRq6pOn5mLk4jIh3gFe2dCb1aA0zZ9yY8xX7wW6vV5uU4tT3sS2rR"
#define O1 "AAAAC3NzaC1lZDI1NTE5AAAAIJ7bq8m1ZkQk0yS5v2T4uYw3hJrPzLc6Nd8aXgOfKeVt00"
#define O2 "Zx8vB2nM5kLpQ0wErTyUiOaSdFgHjKlZxCvBnM1234567890qWeRtYuIoPaSdFgHjKl111"
#define WIDE L1 "abcdEFGH1234"
#define CERT(x) DASH x " CERTIFICATE" DASH

START_TEST(keys_without_their_begin_line_go)
{
	static const struct row rows[] = {
		/* tail -n: lines in front of an END line */
		{ L1 "\n" L2 "\nQw==\n" END "\nb\n", R "\nb\n" },
		{ "x\n" L1 "\nQw==\n" END "\n", "x\n" R "\n" },
		{ "abcd1234==\n" END, R },
		{ "x y\n" WIDE "\n" L1 "\n" END "\n", "x y\n" R "\n" },
		{ "k.pem:7:" L1 "\nk.pem:8:Qw==\nk.pem:9:" END "\nk.txt:1:hi", "k.pem:7:" R "\nk.txt:1:hi" },
		{ "k.pem:8:Zx8vB2nM5kLpQ0w=\nk.pem:9:" END "\n", "k.pem:8:" R "\n" },
		{ "ghp_" N40 ": " L1 "\n" END "\n", R ": " R "\n" },
		{ "k.pem-7-" L1 "\nk.pem-8-" L2 "\nk.pem-9-" END "\n", "k.pem-7-" R "\n" },
		{ "+" L1 "\n+" L2 "\n+" END "\n", "+" R "\n" },
		{ "    " L1 "\n    abc=\n    " END "\n", "    " R "\n" },
		{ "  \"" L1 "\\n\"\n  \"" L2 "\\n\"\n  \"" END "\\n\";\n", "  \"" R "\\n\";\n" },
		{ "...\\n" L1 "\\n" L2 "\\n" END "\\n\", \"n\": 1}", "...\\n" R "\\n\", \"n\": 1}" },
		{ L1 "\r\n" L2 "\r\nQw==\r\n" END "\r\n", R "\r\n" },
		{ L1 "\n=abcd\n" DASH "END PGP PRIVATE" " KEY BLOCK" DASH "\n", R "\n" },
		{ "  '" L1 "'#10+\n  '" L2 "'#10+\n  'Qw=='#10+\n  '" END "'#10;\ny", "  '" R "'#10;\ny" },
		/* grep -v BEGIN, tail -n +2: the first line says what it is */
		{ B64 "\n" L2 "\nQw==\n" END "\nb\n", R "\nb\n" },
		{ "a " B64 "\n" L2 "\n-- \n", "a " R "-- \n" },
		{ "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" L1 "\n", R },
		{ "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49" N20 "\n", R },
		{ "MHcCAQEEI" N40 "\n", R },
		{ "MC4CAQAwBQYDK2VwBCIEI" N40 "\n", R },
		{ "b3BlbnNzaC1rZXktdjE" N40 "\n", R },
		{ "{\"k\":\"" B64 L1 "==\",\"n\":[1]}\n", "{\"k\":\"" R "\",\"n\":[1]}\n" },
		/* sed -n 5,9p: neither the one nor the other */
		{ "x\n" L1 "\n" L2 "\n" L3 "\n" L4 "\n", "x\n" R },
		{ L1 "\n" L2 "\n" L3 "\n" L4 "\nQw==\nthe end.\n", R "the end.\n" },
		{ "5\t" L1 "\n6\t" L2 "\n7\t" L3 "\n8\t" L4 "\n", "5\t" R },
		{ O1 "\n" O2 "\n" O1 "\n" O2 "\n", R },
		/* the last line of a whole key that has a prefix */
		{ "k.pem:1:" BEGIN "\nk.pem:2:" B64 "\nk.pem:3:Qw==\nk.pem:4:" END "\nk.txt:1:hi", "k.pem:1:" R "\nk.txt:1:hi" },
	};

	CHECK(rows);
}
END_TEST

START_TEST(other_base64_stays)
{
	static const struct row rows[] = {
		{ L1 "\n" L2 "\n" L3 "\n", NULL },
		{ WIDE "\n" WIDE "\n" WIDE "\n" WIDE "\n" WIDE "\nQw==\n", NULL },
		{ CERT("BEGIN") "\n" L1 "\n" L2 "\n" L3 "\n" L4 "\nQw==\n" CERT("END") "\n", NULL },
		{ "    " CERT("BEGIN") "\n    " L1 "\n    " L2 "\n    " L3 "\n    " L4 "\n", NULL },
		{ L1 "\n" L2 "\n" L3 "\n" L4 "\nQw==\n" CERT("END") "\n", NULL },
		{ "cert = \"" CERT("BEGIN") "\\n" L1 "\\n" L2 "\\n" L3 "\\n" L4 "\\n" CERT("END") "\\n\"", NULL },
		{ DASH "BEGIN PGP SIGNATURE" DASH "\nVersion: 1\n\n" L1 "\n" L2 "\n" L3 "\n" L4 "\n=abcd\n" DASH "END PGP SIGNATURE" DASH "\n", NULL },
		{ "---- BEGIN SSH2 PUBLIC" " KEY ----\nComment: x\n" O1 "\n" O2 "\n" O1 "\n" O2 "\n---- END SSH2 PUBLIC" " KEY ----\n", NULL },
		{ "<X509Certificate>MIIDpzCCA1GgAwIBAgIJAK+ii7kzrdqvMA0GCSqGSIb3DQEBBQUAMIGcMQswCQYD\n" L1 "\n" L2 "\n" L3 "\n" L4 "</X509Certificate>\n", NULL },
		{ "MIIDazCCAlOgAwIBAgIUF" N40 "\n", NULL },
		{ "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A" N40 "\n", NULL },
		{ "MIIBCgKCAQEA" N40 "\n", NULL },
		{ "word\nlist\nof\nwords\n", NULL },
		{ "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"
		  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n",
		  NULL },
		{ "x\n" END "\n", R "\n" }, /* a line in front of an END may be the last of a key */
		{ "a b\n" END "\n", NULL },
	};

	CHECK(rows);
}
END_TEST

/* More lines than the longest key has are other data, down to the last one */
START_TEST(much_base64_is_no_key)
{
	struct ak_buf in = { 0 };
	char *got;
	unsigned long count;

	for (unsigned i = 0; i < 400; i++)
		ak_buf_str(&in, i & 1 ? L1 "\n" : L2 "\n");
	ak_buf_str(&in, "end\n");
	for (size_t piece = 7; piece < 100000; piece *= 9) {
		got = redacted(in.data, in.len, piece, &count);
		ck_assert_uint_eq(count, 0);
		free(got);
	}
	ak_buf_release(&in);
}
END_TEST

START_TEST(lines_that_only_speak_of_keys_stay)
{
	static const struct row rows[] = {
		{ "if (strstr(p, \"" BEGIN "\")) return 1;\nint main(void) { return 0; }\n", NULL },
		{ BEGIN, NULL },
		{ BEGIN BEGIN BEGIN "\n", NULL },
		{ DASH "BEGIN CERTIFICATE" DASH "\n" B64 "\n" DASH "END CERTIFICATE" DASH "\n", NULL },
		{ DASH "BEGIN PUBLIC KEY" DASH "\n" B64 "\n" DASH "END PUBLIC KEY" DASH "\n", NULL },
		{ DASH "\n" DASH "BEGIN " DASH "\n", NULL },
		{ "---", NULL },
	};

	CHECK(rows);
}
END_TEST

/* What a rule leaves in front of a secret is looked at as well */
START_TEST(a_secret_in_front_of_another_goes)
{
	static const struct row rows[] = {
		{ "password: x] ghp_" N40 "='p@ss w0rd with spaces'", NULL },
		{ "ghp_" N40 ": \"token\": \"" N20 "\"", R ": \"token\": \"" R "\"" },
	};
	char *got;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		got = redacted(rows[i].in, strlen(rows[i].in), 5, NULL);
		ck_assert_msg(!strstr(got, "ghp_"), "%s", got);
		free(got);
	}
}
END_TEST

START_TEST(LOG_03_known_values_go_wherever_they_stand)
{
	static const char in[] = "xkey-0123456789abcdefkey-0123456789abcdefy key-0123456789abcde";
	struct ak_buf out = { 0 };
	struct redact *r = malloc(sizeof(*r));

	ck_assert_ptr_nonnull(r);
	for (size_t piece = 1; piece < sizeof(in); piece++) {
		redact_init(r, &out);
		ck_assert_int_eq(redact_known(r, "key-0123456789abcdef", 20), 0);
		for (size_t at = 0; at < sizeof(in) - 1; at += piece)
			redact_feed(r, in + at, sizeof(in) - 1 - at < piece ? sizeof(in) - 1 - at : piece);
		redact_finish(r);
		ck_assert_str_eq(out.data, "x" R R "y key-0123456789abcde");
		ck_assert_uint_eq(r->count, 2);
		ak_buf_release(&out);
	}
	redact_init(r, &out);
	ck_assert_int_eq(redact_known(r, "1234567", 7), -EINVAL);
	ck_assert_int_eq(redact_known(r, in, REDACT_KNOWN_LEN + 1), -EINVAL);
	for (unsigned i = 0; i < REDACT_KNOWN_MAX; i++)
		ck_assert_int_eq(redact_known(r, "12345678", 8), 0);
	ck_assert_int_eq(redact_known(r, "12345678", 8), -ENOSPC);
	redact_finish(r);
	free(r);
}
END_TEST

START_TEST(secrets_of_any_length_go)
{
	static const char *const starts[] = { "API_KEY=a1", "\"token\": \"a1", "Authorization: Bearer a1", "sk-ant-a1", "ghp_a1", "x " BEGIN "\nA1b" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		size_t head = strlen(starts[i]);
		size_t n = head + 100000;
		char *in = malloc(n + 1);
		char *got;

		ck_assert_ptr_nonnull(in);
		memset(in, 'Z', n);
		memcpy(in, starts[i], head);
		in[n] = '\0';
		for (size_t piece = 1000; piece < 200000; piece *= 7) {
			got = redacted(in, n, piece, NULL);
			ck_assert_msg(strlen(got) < 40, "%s: %.80s", starts[i], got);
			ck_assert_ptr_nonnull(strstr(got, R));
			free(got);
		}
		free(in);
	}
}
END_TEST

START_TEST(other_bytes_pass_unchanged)
{
	size_t n = 300000;
	char *in = malloc(n);
	unsigned seed = 3;
	struct ak_buf out = { 0 };

	ck_assert_ptr_nonnull(in);
	for (size_t i = 0; i < n; i++)
		in[i] = (char)((seed = seed * 1103515245u + 12345u) >> 16);
	ck_assert_uint_eq(redact_text(in, n, &out), 0);
	ck_assert_uint_eq(out.len, n);
	ck_assert_int_eq(memcmp(out.data, in, n), 0);
	ak_buf_release(&out);
	free(in);
}
END_TEST

/* Texts made to be looked at again and again; twice the length may take at most a little more than twice the time */
START_TEST(time_is_linear)
{
	static const char *const units[] = { "key=", "-----BEGIN RSA PRIVATE KEY-----", "sk-", "sk-a-", "Authorization: ", "password: \"",
					     "key=a ", "token: a", "ghp_a_", BEGIN "\n", "=", ":", "\"key\": \"\\\"", "AKIAAKIA", "x\n", "MII", B64 "\n",
					     WIDE "\n", L1 "\n", L1 "\nx\n", L1 "\n" L2 "\nab\n", "\\n", END "\n", "x\n" END "\n",
					     CERT("BEGIN") "\n" };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t len = strlen(units[i]);
		size_t n = (1u << 18) / len * len;
		char *in = malloc(n);
		clock_t start;
		double s;

		ck_assert_ptr_nonnull(in);
		for (size_t at = 0; at < n; at += len)
			memcpy(in + at, units[i], len);
		start = clock();
		free(redacted(in, n, 777, NULL));
		s = (double)(clock() - start) / CLOCKS_PER_SEC;
		/* a quadratic rule takes minutes */
		ck_assert_msg(s < 10, "%s: %.2f s", units[i], s);
		free(in);
	}
}
END_TEST

START_TEST(what_is_written_is_utf8_when_the_text_is)
{
	static const char in[] = "\xe2\x82\xac key=\xe2\x82\xac" "abcdefghijk\xe2\x82\xac \xe2\x82\xac sk-" N20 "\xe2\x82\xac\xe2\x82\xac";
	char *got = redacted(in, sizeof(in) - 1, 3, NULL);

	ck_assert(ak_utf8_valid(got, strlen(got)));
	ck_assert_str_eq(got, "\xe2\x82\xac key=" R " \xe2\x82\xac " R "\xe2\x82\xac\xe2\x82\xac");
	free(got);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("redact");
	TCase *t = tcase_create("redact");
	SRunner *r;
	int failed;

	tcase_add_test(t, tokens_go_by_their_shape);
	tcase_add_test(t, words_that_look_a_little_like_tokens_stay);
	tcase_add_test(t, labelled_values_go_and_labels_stay);
	tcase_add_test(t, code_and_prose_with_such_names_stay);
	tcase_add_test(t, authorization_values_go);
	tcase_add_test(t, code_and_prose_about_authorization_stays);
	tcase_add_test(t, private_keys_go_whole);
	tcase_add_test(t, keys_without_their_begin_line_go);
	tcase_add_test(t, other_base64_stays);
	tcase_add_test(t, much_base64_is_no_key);
	tcase_add_test(t, lines_that_only_speak_of_keys_stay);
	tcase_add_test(t, a_secret_in_front_of_another_goes);
	tcase_add_test(t, LOG_03_known_values_go_wherever_they_stand);
	tcase_add_test(t, secrets_of_any_length_go);
	tcase_add_test(t, other_bytes_pass_unchanged);
	tcase_add_test(t, time_is_linear);
	tcase_add_test(t, what_is_written_is_utf8_when_the_text_is);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
