/** Rules of firewalls as their programs print them: nft 1.0.6 and iptables 1.8.9 of Debian 12. */

/** `nft -j list ruleset` with the rules of ufw; it cannot read the range of ports. */
export const ufwNft = `{"nftables": [{"metainfo": {"version": "1.0.6", "release_name": "Lester Gooch #5", "json_schema_version": 1}},
{"table": {"family": "ip", "name": "filter", "handle": 1}},
{"chain": {"family": "ip", "table": "filter", "name": "ufw-before-input", "handle": 1}},
{"chain": {"family": "ip", "table": "filter", "name": "ufw-user-input", "handle": 2}},
{"chain": {"family": "ip", "table": "filter", "name": "ufw-reject-input", "handle": 3}},
{"chain": {"family": "ip", "table": "filter", "name": "INPUT", "handle": 4, "type": "filter", "hook": "input", "prio": 0, "policy": "drop"}},
{"rule": {"family": "ip", "table": "filter", "chain": "ufw-before-input", "handle": 7, "expr": [{"match": {"op": "==", "left": {"meta": {"key": "iifname"}}, "right": "lo"}},
{"counter": {"packets": 0, "bytes": 0}},
{"accept": null}]}},
{"rule": {"family": "ip", "table": "filter", "chain": "ufw-before-input", "handle": 8, "expr": [{"xt": {"type": "match", "name": "conntrack"}},
{"counter": {"packets": 0, "bytes": 0}},
{"accept": null}]}},
{"rule": {"family": "ip", "table": "filter", "chain": "ufw-before-input", "handle": 9, "expr": [{"counter": {"packets": 0, "bytes": 0}},
{"jump": {"target": "ufw-user-input"}}]}},
{"rule": {"family": "ip", "table": "filter", "chain": "ufw-user-input", "handle": 10, "expr": [{"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": 22}},
{"counter": {"packets": 0, "bytes": 0}},
{"accept": null}]}},
{"rule": {"family": "ip", "table": "filter", "chain": "ufw-user-input", "handle": 11, "expr": [{"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": 5061}},
{"counter": {"packets": 0, "bytes": 0}},
{"accept": null}]}},
{"rule": {"family": "ip", "table": "filter", "chain": "ufw-user-input", "handle": 12, "expr": [{"match": {"op": "==", "left": {"meta": {"key": "l4proto"}}, "right": "udp"}},
{"xt": {"type": "match", "name": "multiport"}},
{"counter": {"packets": 0, "bytes": 0}},
{"accept": null}]}},
{"rule": {"family": "ip", "table": "filter", "chain": "INPUT", "handle": 5, "expr": [{"counter": {"packets": 0, "bytes": 0}},
{"jump": {"target": "ufw-before-input"}}]}},
{"rule": {"family": "ip", "table": "filter", "chain": "INPUT", "handle": 6, "expr": [{"counter": {"packets": 0, "bytes": 0}},
{"jump": {"target": "ufw-reject-input"}}]}}]}`;

/** `iptables-nft -S` of the same. */
export const ufwIptables = `-P INPUT DROP
-P FORWARD ACCEPT
-P OUTPUT ACCEPT
-N ufw-before-input
-N ufw-reject-input
-N ufw-user-input
-A INPUT -j ufw-before-input
-A INPUT -j ufw-reject-input
-A ufw-before-input -i lo -j ACCEPT
-A ufw-before-input -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A ufw-before-input -j ufw-user-input
-A ufw-user-input -p tcp -m tcp --dport 22 -j ACCEPT
-A ufw-user-input -p tcp -m tcp --dport 5061 -j ACCEPT
-A ufw-user-input -p udp -m multiport --dports 10000:20000 -j ACCEPT
`;

/** The same rules by iptables-legacy, which nft does not see. */
export const noRules = `{"nftables": [{"metainfo": {"version": "1.0.6", "release_name": "Lester Gooch #5", "json_schema_version": 1}}]}`;

/** Those of firewalld, without its other zones: the policy accepts, and the last rule rejects. */
export const firewalld = `{"nftables": [{"metainfo": {"version": "1.0.6", "release_name": "Lester Gooch #5", "json_schema_version": 1}},
{"table": {"family": "inet", "name": "firewalld", "handle": 1}},
{"chain": {"family": "inet", "table": "firewalld", "name": "filter_INPUT", "handle": 1, "type": "filter", "hook": "input", "prio": 10, "policy": "accept"}},
{"chain": {"family": "inet", "table": "firewalld", "name": "filter_FORWARD", "handle": 2, "type": "filter", "hook": "forward", "prio": 10, "policy": "accept"}},
{"chain": {"family": "inet", "table": "firewalld", "name": "filter_INPUT_ZONES", "handle": 3}},
{"chain": {"family": "inet", "table": "firewalld", "name": "filter_IN_public", "handle": 4}},
{"chain": {"family": "inet", "table": "firewalld", "name": "filter_IN_public_allow", "handle": 5}},
{"rule": {"family": "inet", "table": "firewalld", "chain": "filter_INPUT", "handle": 7, "expr": [{"match": {"op": "==", "left": {"ct": {"key": "state"}}, "right": {"set": ["established", "related"]}}},
{"accept": null}]}},
{"rule": {"family": "inet", "table": "firewalld", "chain": "filter_INPUT", "handle": 8, "expr": [{"match": {"op": "==", "left": {"meta": {"key": "iifname"}}, "right": "lo"}},
{"accept": null}]}},
{"rule": {"family": "inet", "table": "firewalld", "chain": "filter_INPUT", "handle": 9, "expr": [{"match": {"op": "in", "left": {"ct": {"key": "state"}}, "right": "invalid"}},
{"drop": null}]}},
{"rule": {"family": "inet", "table": "firewalld", "chain": "filter_INPUT", "handle": 10, "expr": [{"jump": {"target": "filter_INPUT_ZONES"}}]}},
{"rule": {"family": "inet", "table": "firewalld", "chain": "filter_INPUT", "handle": 11, "expr": [{"reject": {"type": "icmpx", "expr": "admin-prohibited"}}]}},
{"rule": {"family": "inet", "table": "firewalld", "chain": "filter_FORWARD", "handle": 12, "expr": [{"match": {"op": "==", "left": {"payload": {"protocol": "udp", "field": "dport"}}, "right": {"range": [10000, 20000]}}},
{"accept": null}]}},
{"rule": {"family": "inet", "table": "firewalld", "chain": "filter_FORWARD", "handle": 13, "expr": [{"reject": {"type": "icmpx", "expr": "admin-prohibited"}}]}},
{"rule": {"family": "inet", "table": "firewalld", "chain": "filter_INPUT_ZONES", "handle": 14, "expr": [{"match": {"op": "==", "left": {"meta": {"key": "iifname"}}, "right": "eth0"}},
{"goto": {"target": "filter_IN_public"}}]}},
{"rule": {"family": "inet", "table": "firewalld", "chain": "filter_INPUT_ZONES", "handle": 15, "expr": [{"goto": {"target": "filter_IN_public"}}]}},
{"rule": {"family": "inet", "table": "firewalld", "chain": "filter_IN_public", "handle": 16, "expr": [{"jump": {"target": "filter_IN_public_allow"}}]}},
{"rule": {"family": "inet", "table": "firewalld", "chain": "filter_IN_public", "handle": 18, "expr": [{"match": {"op": "==", "left": {"meta": {"key": "l4proto"}}, "right": {"set": ["icmp", "ipv6-icmp"]}}},
{"accept": null}]}},
{"rule": {"family": "inet", "table": "firewalld", "chain": "filter_IN_public", "handle": 19, "expr": [{"reject": {"type": "icmpx", "expr": "admin-prohibited"}}]}},
{"rule": {"family": "inet", "table": "firewalld", "chain": "filter_IN_public_allow", "handle": 20, "expr": [{"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": 22}},
{"accept": null}]}},
{"rule": {"family": "inet", "table": "firewalld", "chain": "filter_IN_public_allow", "handle": 21, "expr": [{"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": 5061}},
{"accept": null}]}}]}`;

/** By iptables-nft, with a last rule that rejects. */
export const rejecting = `{"nftables": [{"metainfo": {"version": "1.0.6", "release_name": "Lester Gooch #5", "json_schema_version": 1}},
{"table": {"family": "ip", "name": "filter", "handle": 1}},
{"chain": {"family": "ip", "table": "filter", "name": "INPUT", "handle": 1, "type": "filter", "hook": "input", "prio": 0, "policy": "accept"}},
{"rule": {"family": "ip", "table": "filter", "chain": "INPUT", "handle": 2, "expr": [{"match": {"op": "==", "left": {"meta": {"key": "iifname"}}, "right": "lo"}},
{"counter": {"packets": 0, "bytes": 0}},
{"accept": null}]}},
{"rule": {"family": "ip", "table": "filter", "chain": "INPUT", "handle": 3, "expr": [{"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": 5061}},
{"counter": {"packets": 0, "bytes": 0}},
{"accept": null}]}},
{"rule": {"family": "ip", "table": "filter", "chain": "INPUT", "handle": 4, "expr": [{"match": {"op": "==", "left": {"payload": {"protocol": "udp", "field": "dport"}}, "right": {"range": [10000, 20000]}}},
{"counter": {"packets": 0, "bytes": 0}},
{"accept": null}]}},
{"rule": {"family": "ip", "table": "filter", "chain": "INPUT", "handle": 5, "expr": [{"counter": {"packets": 0, "bytes": 0}},
{"xt": {"type": "target", "name": "REJECT"}}]}}]}`;

/** A ruleset of one's own: with a named set, and a map of ports to chains. */
export const ownRules = `{"nftables": [{"metainfo": {"version": "1.0.6", "release_name": "Lester Gooch #5", "json_schema_version": 1}},
{"table": {"family": "inet", "name": "filter", "handle": 1}},
{"set": {"family": "inet", "name": "open", "table": "filter", "type": "inet_service", "handle": 3, "flags": ["interval"], "elem": [5061]}},
{"chain": {"family": "inet", "table": "filter", "name": "media", "handle": 1}},
{"chain": {"family": "inet", "table": "filter", "name": "input", "handle": 2, "type": "filter", "hook": "input", "prio": 0, "policy": "drop"}},
{"rule": {"family": "inet", "table": "filter", "chain": "media", "handle": 4, "expr": [{"accept": null}]}},
{"rule": {"family": "inet", "table": "filter", "chain": "input", "handle": 6, "expr": [{"vmap": {"key": {"ct": {"key": "state"}}, "data": {"set": [["invalid", {"drop": null}], ["established", {"accept": null}], ["related", {"accept": null}]]}}}]}},
{"rule": {"family": "inet", "table": "filter", "chain": "input", "handle": 7, "expr": [{"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": "@open"}},
{"accept": null}]}},
{"rule": {"family": "inet", "table": "filter", "chain": "input", "handle": 9, "expr": [{"vmap": {"key": {"payload": {"protocol": "udp", "field": "dport"}}, "data": {"set": [[{"range": [10000, 20000]}, {"jump": {"target": "media"}}]]}}}]}}]}`;
