#!/usr/bin/env python3
"""check_monitoring.py ROOT SCRAPE POSTGRES_SCRAPE RULES: what promtool does not check.

That is, of deploy/monitoring and of client/postgres/metrics.md; the scrapes are of a sidecar and
of a ttl-postgres. Writes the expressions of the dashboard to RULES, for promtool to parse. Exit code 1, and a line
for each, if something is wrong.
"""
import json
import re
import sys

METRIC = re.compile(r"\b(ttl_(?:sidecar|postgres)_[a-z_]+|process_[a-z_]+)\b")
ALERT = re.compile(r"- alert: (\w+)$", re.MULTILINE)
VARIABLES = {"$__rate_interval": "5m", "$job": ".*", "$instance": ".*", "$container": ".*"}

problems = []


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def scraped_names(scrape):
    """Every name that a query may use."""
    names = set()
    for name, kind in re.findall(r"^# TYPE (\S+) (\w+)$", scrape, re.MULTILINE):
        suffixes = ["_bucket", "_sum", "_count"] if kind == "histogram" else [""]
        names.update(name + suffix for suffix in suffixes)
    return names


def check_names(where, text, names):
    for name in sorted(set(METRIC.findall(text)) - names):
        problems.append(f"{where} uses {name}, which no scrape has")


def check_alerts(rules, tests, runbook):
    alerts = ALERT.findall(rules)
    for alert in sorted({alert for alert in alerts if alerts.count(alert) > 1}):
        problems.append(f"alert {alert} is there twice")
    for alert in alerts:
        if f'alertname="{alert}"' not in tests and f"alertname: {alert}" not in tests:
            problems.append(f"no test makes {alert} fire")
        if f"\n### {alert}\n" not in runbook:
            problems.append(f"deploy/alerts.md says nothing of {alert}")
    for block in rules.split("- alert: ")[1:]:
        name = block.split("\n", 1)[0]
        wanted = ["severity: critical|severity: warning", "summary: ", "description: ",
                  f"runbook_url: deploy/alerts.md#{name.lower()}$"]
        for pattern in wanted:
            if not re.search(pattern, block, re.MULTILINE):
                problems.append(f"alert {name} has no {pattern}")
    for heading in re.findall(r"^### (Ttl(?:Sidecar|Postgres)\w+)$", runbook, re.MULTILINE):
        if heading not in alerts:
            problems.append(f"deploy/alerts.md explains {heading}, which is no alert")


def documented_metrics(text):
    """Of each row of the table: name, type, labels and meaning."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in text.splitlines() if line.startswith("| ttl_postgres_")]
    return {name: (kind, set(filter(None, labels.split(", "))), meaning)
            for name, kind, labels, meaning in rows}


def scraped_metrics(scrape):
    """The same of a scrape; meanings are its help texts."""
    metrics = {}
    for name, meaning in re.findall(r"^# HELP (ttl_postgres_\S+) (.*)$", scrape, re.MULTILINE):
        kind = re.search(rf"^# TYPE {name} (\w+)$", scrape, re.MULTILINE)[1]
        series = re.findall(rf"^{name}(\{{.*\}})? ", scrape, re.MULTILINE)
        labels = {label for text in series for label in re.findall(r'(\w+)="', text)}
        if not series:
            problems.append(f"the scrape has no value of {name}")
        metrics[name] = (kind, labels, meaning)
    return metrics


def check_documents(text, scrape):
    documented, scraped = documented_metrics(text), scraped_metrics(scrape)
    for name in sorted(documented.keys() | scraped.keys()):
        if documented.get(name) != scraped.get(name):
            problems.append(f"client/postgres/metrics.md says of {name}: {documented.get(name)}, "
                            f"the scrape: {scraped.get(name)}")


def expressions(dashboard):
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]


def check_dashboard(dashboard):
    ids = [panel["id"] for panel in dashboard["panels"]]
    if len(ids) != len(set(ids)):
        problems.append("two panels have the same id")
    for panel in dashboard["panels"]:
        if panel["type"] != "row" and not (panel.get("targets") and panel.get("description")):
            problems.append(f"panel {panel['title']} has no query or no description")
    leading = " ".join(expr for _, expr in list(expressions(dashboard))[:2])
    for metric in ("oldest_due_age", "delete_lateness"):
        if metric not in leading:
            problems.append(f"the dashboard does not begin with {metric}")


def check_containers(dashboard, scrape):
    """The variable $container must select in each query of a metric that has the label."""
    labelled = set(re.findall(r'^(ttl_sidecar_\w+)\{[^}]*\bcontainer="', scrape, re.MULTILINE))
    for title, expr in expressions(dashboard):
        for name, selector in re.findall(r"(ttl_sidecar_\w+)\{([^}]*)\}", expr):
            if name in labelled and 'container=~"$container"' not in selector:
                problems.append(f"panel {title}: {name} is not selected by $container")


def write_rules(path, dashboard):
    lines = ["groups:", "  - name: dashboard", "    rules:"]
    for number, (_, expr) in enumerate(expressions(dashboard)):
        for variable, value in VARIABLES.items():
            expr = expr.replace(variable, value)
        lines += [f"      - record: panel:{number}", f"        expr: {json.dumps(expr)}"]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def main():
    root, scrape_path, postgres_path, rules_path = sys.argv[1:]
    monitoring = f"{root}/deploy/monitoring"
    names = scraped_names(read(scrape_path)) | scraped_names(read(postgres_path))
    rules = read(f"{monitoring}/alerts.yaml")
    tests = read(f"{monitoring}/alerts_test.yaml")
    dashboard = json.loads(read(f"{monitoring}/dashboard.json"))
    check_names("alerts.yaml", rules, names)
    check_names("alerts_test.yaml", tests, names)
    check_names("dashboard.json", json.dumps(dashboard), names)
    check_alerts(rules, tests, read(f"{root}/deploy/alerts.md"))
    check_dashboard(dashboard)
    check_containers(dashboard, read(scrape_path))
    check_documents(read(f"{root}/client/postgres/metrics.md"), read(postgres_path))
    write_rules(rules_path, dashboard)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


sys.exit(main())
