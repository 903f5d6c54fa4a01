# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# Config files of user, workspace and policy, AK_* variables, --config, --profile, `ak config show`.
# shellcheck disable=SC2016 # what stands in single quotes expands inside the sandbox
. "$TESTS/lib.sh"

# a home of our own, so that nothing of the other suites' is read
HOME=$DIR/home
export HOME
mkdir -p "$HOME/.config/ak"
C=$HOME/.config/ak/config.json
CACHE=$HOME/.local/state/ak/config

user() { # JSON
	printf '%s\n' "$1" >"$C"
}

workspace() { # JSON
	mkdir -p "$WS/.ak"
	printf '%s\n' "$1" >"$WS/.ak/config.json"
}

# setting KEY EXPR - what `ak config show` says of one key, as a Python expression over v
setting() {
	js "(lambda v: ($2))(d['exec']['$1'])"
}

show() {
	run "$AK" config show --json -C "$WS"
}

t "CLI:no-file-no-ak-policy"
rm -f "$C"
cp "$AK" "$DIR/ak-alone"
run "$DIR/ak-alone" exec -C "$WS" -- true
is "works without ak-policy beside it" "$RC" 0
user '{}'
run "$DIR/ak-alone" exec -C "$WS" -- true
is "control: with a file it is needed" "$RC" 125
like message "$(err)" 'ak-policy is missing'
rm -f "$C"
if need strace; then
	run strace -f -qq -e trace=%file,execve -o "$DIR/trace" "$AK" exec -C "$WS" -- true
	is "calls for config files" "$(grep -cE 'policy\.json|config\.json|/\.ak"' "$DIR/trace")" 3
	no "ak-policy is started" grep -qF '["ak-policy", "config"' "$DIR/trace"
	user '{}'
	rm -rf "$CACHE"
	run strace -f -qq -e trace=%file,execve -o "$DIR/trace" "$AK" exec -C "$WS" -- true
	ok "control: with a file it is" grep -qF '["ak-policy", "config"' "$DIR/trace"
fi

t "CLI:a-user's-file-is-obeyed"
user '{ // a comment
  "exec": { "memory": "300m", "timeout": 90, "env": {"GREETING": "from the file"}, },
}'
ak --json -- sh -c 'echo "$GREETING"'
is code "$RC" 0
is memory "$(js 'd["limits"]["memory"]["value"]')" 314572800
is timeout "$(js 'd["limits"]["timeout"]["value"]')" 90.0
is env "$(js 'd["stdout"]')" "from the file"
ak --json -m 200m -- true
is "the command line counts more" "$(js 'd["limits"]["memory"]["value"]')" 209715200
run env AK_MEMORY=100m "$AK" exec -C "$WS" --json -- true
is "a variable counts more than the file" "$(js 'd["limits"]["memory"]["value"]')" 104857600
run env AK_MEMORY=100m "$AK" exec -C "$WS" -m 200m --json -- true
is "and less than the command line" "$(js 'd["limits"]["memory"]["value"]')" 209715200

t "CLI:profile"
user '{"exec": {"memory": "300m"}, "profiles": {"ci": {"exec": {"timeout": "7s", "memory": "200m"}}, "big": {}}}'
ak --json --profile ci -- true
is memory "$(js 'd["limits"]["memory"]["value"]')" 209715200
is timeout "$(js 'd["limits"]["timeout"]["value"]')" 7.0
run env AK_PROFILE=ci "$AK" exec -C "$WS" --json -- true
is "by variable" "$(js 'd["limits"]["timeout"]["value"]')" 7.0
ak --json -- true
is "not without being chosen" "$(js 'd["limits"]["memory"]["value"]')" 314572800
ak --profile other -- touch MARK
refused 125 'there is no profile "other" in .*config\.json.*it has: ci, big'

t "CLI:config-replaces-the-user's-file"
user '{"exec": {"memory": "300m"}}'
echo '{"exec": {"timeout": "9s"}}' >"$DIR/other.json"
ak --json --config "$DIR/other.json" -- true
is timeout "$(js 'd["limits"]["timeout"]["value"]')" 9.0
is "the default again" "$(js 'd["limits"]["memory"]["value"]')" 536870912
ak --json --config /dev/null -- true
is "none" "$(js 'd["limits"]["memory"]["value"]')" 536870912
run env AK_CONFIG="$DIR/other.json" "$AK" exec -C "$WS" --json -- true
is "by variable" "$(js 'd["limits"]["timeout"]["value"]')" 9.0
ak --config "$DIR/missing" -- touch MARK
refused 125 '--config: open .*missing: No such file'
ln -sf other.json "$DIR/link.json"
ak --config "$DIR/link.json" -- touch MARK
refused 125 'symbolic link'

t "CLI:the-user's-file-may-be-a-link-of-one's-own"
mkdir -p "$DIR/dotfiles/d"
echo '{"exec": {"memory": "300m"}}' >"$DIR/dotfiles/c"
ln -sf "$DIR/dotfiles/c" "$C"
ak --json -- true
is memory "$(js 'd["limits"]["memory"]["value"]')" 314572800
rm "$C"
ln -s ../../../dotfiles/d/../c "$C"
ak --json -- true
is "a relative one" "$(js 'd["limits"]["memory"]["value"]')" 314572800
ln -sf "$DIR/dotfiles/missing" "$C"
ak --json -- true
is "one that leads nowhere is no file" "$RC:$(js 'd["limits"]["memory"]["value"]')" 0:536870912
rm "$C"

t "CLI:unknown-keys-are-errors-with-their-place"
user '{
  "exec": {
    "memroy": "1g"
  }
}'
ak -- touch MARK
refused 125 'config\.json:3:15: exec\.memroy: unknown key'
ak --json -- touch MARK
is code "$RC" 125
is "the report says so" "$(js 'd["error"]["errno"]')" EINVAL
user '{"exec": {"memory": "lots"}}'
ak -- touch MARK
refused 125 'config\.json:1:21: exec\.memory: "lots" is not a size'
user '{"exec": {"memory": "1g" "x": 1}}'
ak -- touch MARK
refused 125 'config\.json:1:26: a comma or'
user '{"run": {"modle": "x"}}'
ak -- touch MARK
refused 125 'config\.json:1:19: run\.modle: unknown key'
user '{"providers": {"x": {"bas_url": "https://h.example"}}}'
ak -- touch MARK
refused 125 'config\.json:1:33: providers\.x\.bas_url: unknown key: base_url, api and api_key_file are known'
user '{"providers": {"x": {"api_key": "sk-in-the-file"}}}'
ak -- touch MARK
refused 125 'providers\.x\.api_key: a key is not for a config file'
no "the key is not shown" grep -qF sk-in-the-file "$E"
user '{"prices": {"openai/x": {"in": 1}}}'
ak -- touch MARK
refused 125 'prices: not in this file: prices belong into ~/\.config/ak/prices\.json'
user '{"exec": {"backend": "docker"}}'
ak -- touch MARK
refused 125 'backend docker: no image'
user '{}'
ak -- true
is "control" "$RC" 0

t "CLI:create-and-serve-obey-it-too"
user '{"exec": {"ttl": "bad"}}'
run "$AK" create -C "$WS" --explain cfg
is code "$RC" 2
like message "$(err)" 'config\.json:1:18: exec\.ttl: "bad" is not a duration'
user '{"exec": {"hide": ["/usr/share"], "timeout": "5s"}}'
run "$AK" create -C "$WS" --explain cfg
is "a command's setting does not disturb" "$RC" 0
like "a sandbox's one counts" "$(out)" '/usr/share'
user '{"exec": {"memory": true}}'
run "$AK" serve
is code "$RC" 2
like serve "$(err)" 'exec\.memory: a size is expected'

t "T5:a-workspace's-file-only-tightens"
user '{"exec": {"memory": "1g", "write": "direct"}}'
mkdir -p "$WS/sub"
echo secret >"$WS/sub/f"
workspace '{"exec": {"memory": "100m", "write": "none", "hide": ["sub"], "timeout": "3s", "max_output": 5}}'
ak --json -- sh -c 'cat sub/f 2>/dev/null; touch x 2>/dev/null; echo 123456789'
is memory "$(js 'd["limits"]["memory"]["value"]')" 104857600
is timeout "$(js 'd["limits"]["timeout"]["value"]')" 3.0
is "hidden, cut" "$(js 'd["stdout_bytes"], d["stdout_dropped"]')" "(10, 5)"
no "read-only" test -e "$WS/x"
run sh -c "cd '$WS' && exec '$AK' exec -- cat sub/f"
is "from the current folder as well" "$RC" 1
ak --memory 50m --json -- true
is "the user overrules it" "$(js 'd["limits"]["memory"]["value"]')" 52428800

t "T5:a-workspace's-file-cannot-loosen"
user '{}'
# every key of the table: tests/unit/test_policy_config.c and test_config.c
for pair in 'memory:"8g"' 'pids:"max"' 'net:"host"'; do
	workspace "{\"exec\": {\"${pair%%:*}\": ${pair#*:}}}"
	ak -- touch MARK
	refused 125 "ak/config\.json:1:[0-9]+: exec\.${pair%%:*}: .*only tighten"
done
for pair in 'env:["LD_PRELOAD=/x"]' 'env_file:"/etc/passwd"' 'rw:["/"]' 'ro:["/root"]' 'seccomp:"strict"' 'allow_protected:[".git"]'; do
	workspace "{\"exec\": {\"${pair%%:*}\": ${pair#*:}}}"
	ak -- touch MARK
	refused 125 "ak/config\.json:1:[0-9]+: exec\.${pair%%:*}: not for a workspace's file"
done
for top in model base_url allow prices providers run profiles; do
	workspace "{\"$top\": \"x\"}"
	ak -- touch MARK
	refused 125 "ak/config\.json:1:[0-9]+: $top: "
done

t "T5:a-workspace's-file-leads-nowhere"
mkdir -p "$WS/.ak" "$DIR/elsewhere"
echo '{"exec": {"timeout": "3s"}}' >"$DIR/elsewhere/config.json"
ln -s "$DIR/elsewhere/config.json" "$WS/.ak/config.json"
ak -- touch MARK
refused 125 'symbolic link'
rm -r "$WS/.ak"
ln -s "$DIR/elsewhere" "$WS/.ak"
ak -- touch MARK
refused 125 'symbolic link'
rm "$WS/.ak"
mkdir "$WS/.ak"
mkfifo "$WS/.ak/config.json"
ak -- touch MARK
refused 125 'not a regular file'
rm "$WS/.ak/config.json"
head -c 300000 /dev/zero | tr '\0' ' ' >"$WS/.ak/config.json"
ak -- touch MARK
refused 125 'longer than 262144 bytes'
"$PY" -c 'print("["*100000)' >"$WS/.ak/config.json"
ak -- touch MARK
refused 125 'more than 8 levels'
cp "$DIR/elsewhere/config.json" "$WS/.ak/config.json"
ak --json -- true
is "control: the same file in its place" "$(js 'd["limits"]["timeout"]["value"]')" 3.0
rm -r "$WS/.ak"
echo text >"$WS/.ak"
ak -- true
is "a file of that name is none" "$RC" 0

t "T5:a-sandbox-cannot-change-it"
workspace '{"exec": {"timeout": "30s"}}'
ak -- sh -c 'echo "{}" >.ak/config.json; rm -rf .ak; mv .ak x'
is "as it was" "$(cat "$WS/.ak/config.json")" '{"exec": {"timeout": "30s"}}'

t "USR:files-of-others-are-not-believed"
user '{}'
chmod 664 "$C"
ak -- touch MARK
refused 125 'config\.json can be written by others \(mode 664\).*chmod go-w'
chmod 644 "$C"
ak -- true
is "control" "$RC" 0
if [ "$WHO" = root ]; then
	chown 1234 "$C"
	ak -- touch MARK
	refused 125 'config\.json belongs to uid 1234, neither to you nor to root.*--config /dev/null none'
	ak --config /dev/null -- true
	is "the way out" "$RC" 0
	# HOME kept by sudo: nothing is left in the home of somebody else
	mkdir -p "$DIR/theirs/.config/ak"
	echo '{}' >"$DIR/theirs/.config/ak/config.json"
	chown -R 1234 "$DIR/theirs"
	chown 0 "$DIR/theirs/.config/ak" "$DIR/theirs/.config/ak/config.json"
	run env HOME="$DIR/theirs" "$AK" exec -C "$WS" -- true
	is code "$RC" 0
	no "folders of root's in it" test -e "$DIR/theirs/.local"
	# nor read by a way that is somebody else's
	chown 1234 "$DIR/theirs/.config/ak"
	run env HOME="$DIR/theirs" "$AK" exec -C "$WS" -- touch MARK
	refused 125 'config\.json: its folder, or a symbolic link on the way, belongs neither to you nor to root.*--config /dev/null none'
	mkdir -p "$DIR/rootsown/ak"
	echo 'SECRET77' | tee "$DIR/rootsown/f" >"$DIR/rootsown/ak/config.json"
	ln -sf "$DIR/rootsown/f" "$DIR/theirs/.config/ak/config.json"
	chown -h 1234 "$DIR/theirs/.config/ak/config.json"
	run env HOME="$DIR/theirs" "$AK" exec -C "$WS" -- touch MARK
	refused 125 'symbolic link on the way, belongs neither to you nor to root'
	no "the file was read" grep -q SECRET77 "$E"
	rm -r "$DIR/theirs/.config"
	ln -s "$DIR/rootsown" "$DIR/theirs/.config"
	chown -h 1234 "$DIR/theirs/.config"
	run env HOME="$DIR/theirs" "$AK" exec -C "$WS" -- touch MARK
	refused 125 'symbolic link on the way, belongs neither to you nor to root'
	no "nor behind a folder's link" grep -q SECRET77 "$E"
	run env HOME="$DIR/theirs" "$AK" exec --config /dev/null -C "$WS" -- true
	is "the way out here" "$RC" 0
	rm -f "$C"
fi

t "FS-09:the-config-cannot-be-reached-from-inside"
user '{"exec": {"timeout": "30s"}}'
run sh -c "cd '$HOME' && exec '$AK' exec -C '$HOME' -- sh -c 'cat .config/ak/config.json; echo x >>.config/ak/config.json; ls .local/state/ak'"
no "code" test "$RC" = 0
is "nothing was shown" "$(wc -c <"$O")" 0
is "as it was" "$(cat "$C")" '{"exec": {"timeout": "30s"}}'

t "CLI:paths-in-files"
mkdir -p "$HOME/data"
echo seen >"$HOME/data/f"
user '{"exec": {"ro": ["~/data:/data"], "hide": ["~/none"]}}'
ak -- cat /data/f
is output "$(out)" seen
user '{"exec": {"seccomp": "p.json"}}'
ak -- touch MARK
refused 125 'exec\.seccomp: "p\.json" is not absolute'

t "ENV:variables"
user '{}'
run env AK_HIDE="/usr/share
/usr/include" AK_ENV="A=b c" "$AK" exec -C "$WS" -- sh -c 'ls /usr/share /usr/include >/dev/null 2>&1 || echo "$A"; env | grep ^AK_'
is output "$(out)" "b c"
run env AK_PIDS=none "$AK" exec -C "$WS" -- touch MARK
refused 125 'AK_PIDS: "none" is not a whole number'
run env AK_VERBOSE=perhaps "$AK" exec -C "$WS" -- touch MARK
refused 125 'AK_VERBOSE: "perhaps" is neither true nor false'

t "NET-07:an-empty-value-is-not-unlimited"
user '{"exec": {"net": ""}}'
ak -- touch MARK
refused 125 'exec\.net'
user '{"exec": {"net": []}}'
ak -- touch MARK
refused 125 'exec\.net'
user '{"exec": {}}'
show
is "missing key" "$(setting net 'v["value"]')" none

# ---- ak run: a script of three turns, two of which call

SCRIPT=$DIR/script
printf '%s\n' '{"schema":"ak-replay/1"}' '{"reply":{"text":"One.","calls":[{"id":"a","name":"bash","args":{"command":"echo made >made"}}]}}' \
	'{"reply":{"text":"Two.","calls":[{"id":"b","name":"bash","args":{"command":"true"}}]}}' '{"reply":{"text":"Done."}}' >"$SCRIPT"

# agent ARG... - one run; the result object in $O
agent() {
	run "$AK" run -C "$WS" --replay "$SCRIPT" -q -o json "$@" go </dev/null
}

# not_run CODE TEXT - the words or the settings were wrong: said in the result, and nothing was stored
not_run() {
	is "exit code" "$RC" "$1"
	like "code and message" "$(js 'str(d["exit_code"])+": "+d["error"]["message"]')" "^$1: .*$2"
	no "anything ran" test -e "$WS/made"
}

t "CLI:run:a-user's-settings"
user '{"exec": {"memory": "300m", "write": "none", "apply": "never", "timeout": "1ms"},
 "run": {"api": "replay", "max_turns": 1, "ephemeral": true},
 "profiles": {"long": {"run": {"max_turns": 9}}}}'
agent
is "what exec says of how changes are made is not for run" "$RC" 12
like "the file's limit" "$(js 'd["result"]')" 'max iterations'
agent --max-turns 3
is "the command line counts more" "$RC" 0
ok "and the copy was taken over" test -e "$WS/made"
rm -f "$WS/made"
run env AK_MAX_TURNS=3 "$AK" run -C "$WS" --replay "$SCRIPT" -q -o json go
is "a variable counts more than the file" "$RC" 0
rm -f "$WS/made"
agent --profile long
is "a profile too" "$RC" 0
rm -f "$WS/made"
agent --bare
not_run 2 'no model'
no "sessions are stored" test -e "$HOME/.local/state/ak/sessions/s-"*
show
is "shown" "$(js 'd["run"]["max_turns"]["value"], d["run"]["max_turns"]["origin"]["line"], d["run"]["memory"]["value"]')" "('1', 2, '300m')"
is "with its own default" "$(js 'd["run"]["write"]["value"], d["exec"]["write"]["value"]')" "('cow', 'none')"
run "$AK" config show -C "$WS"
like text "$(out)" "run\.max_turns +1 +$C:2:40"

t "CLI:run:write-apply-and-lists"
user '{"run": {"api": "replay", "apply": "never", "deny": ["bash(true)"]}}'
agent
is "exit code" "$RC" 0
no "taken over" test -e "$WS/made"
is "kept" "$(js '[f["path"] for f in d["changes"]["files"]]')" "['made']"
is "denied" "$(js '[p["tool_use_id"] for p in d["permission_denials"]]')" "['b']"
agent --apply always --deny 'bash(echo*)'
is "rules add up" "$(js '[p["tool_use_id"] for p in d["permission_denials"]]')" "['a', 'b']"
user '{"run": {"api": "replay", "write": "none", "apply": "ask", "memory": "64m"}}'
agent
is "read-only, by the file" "$(js 'd["exit_code"], d["changes"]')" "(0, None)"
no "made" test -e "$WS/made"

t "CLI:run:bad-settings-are-named"
user '{"run": {"api": "replay",
  "max_turns": "many"}}'
agent
not_run 2 "$C:2:16: run\\.max_turns: \"many\" is not a number"
user '{"run": {"api": "replay", "modle": "x"}}'
agent
not_run 2 'config\.json:1:36: run\.modle: unknown key'
user '{"run": {"api": "replay", "resume": "s-0123456789ab"}}'
agent
not_run 2 'run\.resume: unknown key: this option is for one command line'
user '{"run": {"api": "replay", "ca_file": "ca.pem"}}'
agent
not_run 2 'run\.ca_file: "ca\.pem" is not absolute'
user '{"run": {"api": "replay"}}'
run env AK_TOOL_TIMEOUT=soon "$AK" run -C "$WS" --replay "$SCRIPT" -q -o json go
not_run 2 'AK_TOOL_TIMEOUT: "soon" is not a duration'

t "T5:run:a-workspace's-file-only-tightens"
workspace '{"run": {"approval": "deny-mutations", "max_turns": 9}}'
agent
is "exit code" "$RC" 0
is "denied" "$(js 'len(d["permission_denials"])')" 2
workspace '{"run": {"max_output_tokens": 900000, "deny": ["bash(true)"], "max_tool_timeout": "30s", "apply": "never", "pids": 50}}'
agent
is "exit code" "$RC" 0
is "denied" "$(js '[p["tool_use_id"] for p in d["permission_denials"]]')" "['b']"
no "taken over" test -e "$WS/made"
agent --bare --api replay
is "--bare does not leave it out" "$(js 'len(d["permission_denials"])')" 1
workspace '{"exec": {"pids": 100}}'
user '{"run": {"api": "replay", "pids": 50, "max_cost": 1}}'
agent --price in=0,out=0 --apply never
is "a limit for ak exec does not loosen that of ak run" "$RC" 0
show
is "nor disturb it" "$(js 'd["run"]["pids"]["value"], d["exec"]["pids"]["value"]')" "('50', '100')"
# every key of the table: as above
for pair in 'max_turns:26' 'max_cost:1.000000000001' 'net:"host"' 'write:"direct"'; do
	workspace "{\"run\": {\"${pair%%:*}\": ${pair#*:}}}"
	agent
	not_run 2 "ak/config\.json:1:[0-9]+: run\.${pair%%:*}: .*only tighten"
done
for pair in 'model:"x/y"' 'api:"replay"' 'base_url:"http://127.0.0.1:1"' 'allow:["bash"]' 'rw:["/"]' 'unknown_price:"allow"'; do
	workspace "{\"run\": {\"${pair%%:*}\": ${pair#*:}}}"
	agent
	not_run 2 "ak/config\.json:1:[0-9]+: run\.${pair%%:*}: not for a workspace's file"
done
workspace '{"run": {"approval": "auto"}}'
agent --write direct
not_run 2 'run\.approval: "auto" is looser than "ask"'
for pair in 'approval:"DENY"' 'apply:"maybe"'; do
	workspace "{\"run\": {\"${pair%%:*}\": ${pair#*:}}}"
	agent --write direct
	not_run 2 "ak/config\.json:1:[0-9]+: run\.${pair%%:*}: ${pair#*:} is not one of [a-z-]+, ask"
done
rm -r "$WS/.ak"
user '{}'

t "CLI:providers"
user '{"providers": {
  "corp-gw": {"base_url": "https://gw.example/v1", "api": "responses", "api_key_file": "~/corp.key"},
  "openai": {"base_url": "https://proxy.example/v1"}}}'
run "$AK" models --json
is code "$RC" 0
is "a new one" "$(js '[(p["api"], p["base_url"], p["key"], p["key_set"]) for p in d if p["provider"] == "corp-gw"]')" \
	"[('responses', 'https://gw.example/v1', 'CORP_GW_API_KEY', True)]"
is "a known one elsewhere" "$(js '[p["base_url"] for p in d if p["provider"] == "openai"]')" "['https://proxy.example/v1']"
run env CORP_GW_BASE_URL=https://other.example "$AK" models --json
is "a variable counts more" "$(js '[p["base_url"] for p in d if p["provider"] == "corp-gw"]')" "['https://other.example']"
run "$AK" models no-such
is code "$RC" 2
run "$AK" config show
like "shown with its place" "$(out)" 'providers +corp-gw\.base_url=https://gw\.example/v1 +.*config\.json:2:27'
ak --env CORP_GW_API_KEY=x -- touch MARK
refused 125 'CORP_GW_API_KEY is one of ak.s own variables'
ak --env CORP_API_KEY=x -- true
is "control: another one is the caller's" "$RC" 0

# a run whose key is to come from the file; refused before anything is asked
key() {
	run "$AK" run -C "$WS" -q -m corp-gw/m hi
}
key
is "no such file" "$RC" 3
like message "$(err)" 'config\.json:2:88: providers\.corp-gw\.api_key_file: open the key file .*/corp\.key: No such file'
echo sk-of-the-file >"$HOME/corp.key"
chmod 644 "$HOME/corp.key"
key
is "a file that others can read" "$RC" 3
like message "$(err)" 'config\.json:2:88: providers\.corp-gw\.api_key_file: .* can be read or written by others \(mode 644\).*chmod 600'
run "$AK" models corp-gw
is "the same for ak models" "$RC" 3
chmod 600 "$HOME/corp.key"
if [ "$(id -u)" = 0 ]; then
	chown 12345 "$HOME/corp.key"
	chmod 644 "$HOME/corp.key"
	key
	is "somebody else's" "$RC" 3
	like message "$(err)" 'corp\.key belongs to uid 12345, neither to you nor to root'
	chown 0 "$HOME/corp.key"
	chmod 600 "$HOME/corp.key"
fi
printf 'sk of\n' >"$HOME/corp.key"
key
is "no key" "$RC" 3
like message "$(err)" 'corp\.key: api_key_file: a key with a space'
no "the key is not shown" grep -qF 'sk of' "$O" "$E"
rm -f "$HOME/corp.key"
mkfifo -m 600 "$HOME/corp.key"
key
is "no file" "$RC" 3
like message "$(err)" 'corp\.key is not a regular file'
rm -f "$HOME/corp.key"
echo sk-of-the-file >"$WS/corp.key"
chmod 600 "$WS/corp.key"
user "{\"providers\": {\"corp-gw\": {\"base_url\": \"https://gw.example\", \"api_key_file\": \"$WS/corp.key\"}}}"
key
is "a key in the workspace" "$RC" 2
like message "$(err)" 'providers\.corp-gw\.api_key_file: .*/corp\.key lies in the workspace'
rm -f "$WS/corp.key"
user '{"providers": {"corp": {"base_url": "http://gw.example/v1"}}}'
run "$AK" run -C "$WS" -q -m corp/m hi
is "plain http" "$RC" 2
like message "$(err)" 'config\.json:1:37: providers\.corp\.base_url: http:// would send the key'
user '{"providers": {"corp": {"api": "chat"}}}'
run "$AK" run -C "$WS" -q -m corp/m hi
is "no base" "$RC" 2
like message "$(err)" 'config\.json:1:32: providers\.corp: it has no base_url.*CORP_BASE_URL'
user '{}'
run "$AK" run -C "$WS" -q --providers=corp.api=chat -m corp/m hi
is "no option" "$RC" 2
like message "$(err)" 'unknown option --providers'

t "CLI:show"
user '{"exec": {"memory": "300m", "hide": ["/usr/share"]},
 "profiles": {"ci": {"exec": {"pids": 99}}}}'
workspace '{"exec": {"timeout": "3s", "hide": ["sub"]}}'
run env AK_CPUS=0.5 "$AK" config show --json -C "$WS" --profile ci --nofile 77
is code "$RC" 0
is schema "$(js 'd["schema"], d["profile"]')" "('ak-config/1', 'ci')"
is files "$(js '[f["layer"]+":"+str(f["read"]) for f in d["files"]]')" "['policy:False', 'user:True', 'workspace:True']"
is file "$(setting memory 'v["value"], v["origin"]["file"]==d["files"][1]["path"], v["origin"]["line"], v["origin"]["column"]')" "('300m', True, 1, 21)"
is profile "$(setting pids 'v["value"], v["origin"]["layer"], v["origin"]["profile"], v["origin"]["line"]')" "('99', 'profile', 'ci', 2)"
is workspace "$(setting timeout 'v["value"], v["origin"]["layer"], v["origin"]["file"]')" "('3s', 'workspace', '$WS/.ak/config.json')"
is variable "$(setting cpus 'v["value"], v["origin"]')" "('0.5', {'layer': 'variable', 'variable': 'AK_CPUS'})"
is option "$(setting nofile 'v["value"], v["origin"]')" "('77', {'layer': 'option', 'option': '--nofile'})"
is default "$(setting write 'v["value"], v["origin"]')" "('direct', {'layer': 'default'})"
is unset "$(setting fsize 'v["value"]')" None
is list "$(setting hide '[(x["value"], x["origin"]["layer"]) for x in v["entries"]]')" "[('/usr/share', 'user'), ('sub', 'workspace')]"
run "$AK" config show -C "$WS"
like text "$(out)" "memory +300m +$C:1:21"
like text "$(out)" 'write +direct +default'
run "$AK" config show -C "$WS" word
is "usage" "$RC" 2
run "$AK" config
is "usage" "$RC" 2
user '{"exec": {"x": 1}}'
run "$AK" config show
is "a bad file" "$RC" 1
like text "$(err)" 'config\.json:1:16: exec\.x: unknown key'

t "CLI:cache"
user '{"exec": {"timeout": "31s"}}'
rm -rf "$CACHE"
ak -- true
is "one entry" "$(find "$CACHE" -name 'user-*' | wc -l)" 1
is modes "$(stat -c %a "$CACHE" "$CACHE"/user-* | tr '\n' ' ')" "700 600 "
cp "$AK" "$DIR/ak-alone"
run "$DIR/ak-alone" exec -C "$WS" --json -- true
is "used: without ak-policy" "$(js 'd["limits"]["timeout"]["value"]')" 31.0
for damage in 'truncate -s -1' 'truncate -s 9000000' 'sed -i s/31s/99s/'; do
	for f in "$CACHE"/user-*; do $damage "$f"; done
	run "$DIR/ak-alone" exec -C "$WS" -- true
	is "not believed after $damage" "$RC" 125
	ak --json -- true
	is "made anew after $damage" "$(js 'd["limits"]["timeout"]["value"]')" 31.0
	run "$DIR/ak-alone" exec -C "$WS" -- true
	is "used again after $damage" "$RC" 0
done
# another file's entry under this one's name, as a collision would leave it
user '{"exec": {"timeout": "32s"}}'
ak -- true
for f in "$CACHE"/user-*; do entries+=("$f"); done
[ ${#entries[@]} -lt 2 ] || { cp "${entries[0]}" "$DIR/e" && cp "${entries[1]}" "${entries[0]}" && cp "$DIR/e" "${entries[1]}"; }
ak --json -- true
is "the bytes count, not the name" "$(js 'd["limits"]["timeout"]["value"]')" 32.0
chmod 755 "$CACHE"
run "$DIR/ak-alone" exec -C "$WS" -- true
is "a folder that others can enter is not used" "$RC" 125
chmod 700 "$CACHE"

t "USR:policy-of-the-machine"
# in a copy of /etc of our own: an ordinary user becomes root of a namespace for that, where only what is the user's is root's
mkdir -p "$DIR/etc" "$DIR/bin"
cp -r /etc/. "$DIR/etc/" 2>/dev/null
mkdir -p "$DIR/etc/ak"
cp "$AK" "${AK%/*}/ak-policy" "$DIR/bin/"
POLICED=$DIR/bin/ak
MAP=(-m)
[ "$WHO" = root ] || MAP=(-r -m)
policy() { # JSON COMMAND...
	printf '%s\n' "$1" >"$DIR/etc/ak/policy.json"
	shift
	run unshare "${MAP[@]}" sh -c 'mount --bind "$0/etc" /etc && exec "$@"' "$DIR" "$@"
}
user '{}'
LOCK='{"exec": {"memory": "400m", "net": "none", "timeout": "20s", "rw": [], "seccomp": "strict"}}'
policy "$LOCK" "$POLICED" exec -C "$WS" --json -m 300m -- true
if [ "$RC" = 125 ] && grep -qE 'uid_map|unshare|mount' "$E"; then
	skip "no user namespace inside another one here"
else
	is memory "$(js 'd["limits"]["memory"]["value"]')" 314572800
	is timeout "$(js 'd["limits"]["timeout"]["value"]')" 20.0
	is seccomp "$(js 'd["isolation"]["seccomp"]')" strict
	policy "$LOCK" "$POLICED" exec -C "$WS" -m 1g -- touch MARK
	refused 125 '--memory: "1g" is not allowed by /etc/ak/policy\.json:1:[0-9]+.*allows 400m'
	policy "$LOCK" "$POLICED" exec -C "$WS" --net host -- touch MARK
	refused 125 '--net: "host" is not allowed by /etc/ak/policy\.json'
	policy "$LOCK" "$POLICED" exec -C "$WS" -v "$DIR:/x" -- touch MARK
	refused 125 '-v: .* is not allowed by /etc/ak/policy\.json'
	policy "$LOCK" env AK_SECCOMP=default "$POLICED" exec -C "$WS" -- touch MARK
	refused 125 'AK_SECCOMP: "default" is not allowed by'
	user '{"exec": {"timeout": "1h"}}'
	policy "$LOCK" "$POLICED" exec -C "$WS" -- touch MARK
	refused 125 'config\.json:1:22: exec\.timeout: "1h" is not allowed by'
	user '{}'
	policy "$LOCK" "$POLICED" serve --net host
	like serve "$(err)" '"host" is not allowed by'
	policy "$LOCK" "$POLICED" config show --json
	is shown "$(setting memory 'v["value"], v["locked_to"], v["locked_by"]["file"]')" "('400m', '400m', '/etc/ak/policy.json')"
	LOCK='{"exec": {"apply": "never"}, "run": {"max_cost": 2, "allow": [], "approval": "smart", "unknown_price": "refuse"}}'
	cp "${AK%/*}/ak-agent" "${AK%/*}/ak-search" "$DIR/bin/"
	policed() {
		policy "$LOCK" "$POLICED" run -C "$WS" --api replay --replay "$SCRIPT" --ephemeral -q -o json "$@" go
	}
	policed --max-cost 2.01
	like "the agent's options" "$(js 'd["error"]["message"]')" '^--max-cost: "2.01" is not allowed by /etc/ak/policy\.json:1:[0-9]+'
	policed -y
	like "by another name" "$(js 'd["error"]["message"]')" '^--yes: "auto" is not allowed by'
	policed --allow bash
	like "a closed list" "$(js 'd["error"]["message"]')" '^--allow: "bash" is not allowed by'
	policed --apply always
	like "exec's word on applying" "$(js 'd["error"]["message"]')" '^--apply: "always" is not allowed by'
	policed --approval deny-mutations --price in=1,out=1
	is "control: stricter" "$(js 'd["exit_code"], len(d["permission_denials"])')" "(0, 2)"
	LOCK='{"providers": {"corp": {"base_url": "https://gw.example/v1"}}}'
	policy "$LOCK" "$POLICED" models --json
	is "its providers are known" "$(js '[p["base_url"] for p in d if p["provider"] == "corp"]')" "['https://gw.example/v1']"
	policy "$LOCK" env CORP_BASE_URL=https://other.example "$POLICED" models
	refused 1 'CORP_BASE_URL: "https://other\.example" is not allowed by /etc/ak/policy\.json:1:[0-9]+.*unset CORP_BASE_URL'
	policed -m corp/m
	is "control: nothing else said" "$(js 'd["exit_code"]')" 0
	user '{"providers": {"corp": {"base_url": "https://other.example"}}}'
	policed -m corp/m
	like "the list is closed" "$(js 'd["error"]["message"]')" \
		'config\.json:1:37: providers: "corp\.base_url=https://other\.example" is not allowed by /etc/ak/policy\.json:1:[0-9]+'
	policy "$LOCK" "$POLICED" models
	refused 1 'providers: .* is not allowed by /etc/ak/policy\.json'
	user '{}'
	policy '{"exec": {"quiet": true}}' "$POLICED" exec -C "$WS" -- touch MARK
	refused 125 'policy\.json:1:20: exec\.quiet: not for the policy'
	policy '{"exec": {"memory": "many"}}' "$POLICED" exec -C "$WS" -- touch MARK
	refused 125 'policy\.json:1:21: exec\.memory: "many" is not a size'
	chmod 666 "$DIR/etc/ak/policy.json"
	policy "$LOCK" "$POLICED" exec -C "$WS" -- touch MARK
	refused 125 'policy\.json can be written by others'
	chmod 644 "$DIR/etc/ak/policy.json"
	policy "{}" "$POLICED" exec -C "$WS" -m 1g -- true
	is "control: an empty policy" "$RC" 0
fi

done_suite
