# SPDX-License-Identifier: LGPL-3.0-only
"""Requests of several users in one piece, so that a module has all of them while it answers the first. For tests of who
waits for whom."""
import base64
import json
import struct
import types

import wire

OWNER, GUEST, OTHER = (0xFFFFFFFF, 0), (5001, 2), (5002, 2)
AGAIN = 11


def send(client, *requests, flags=0):
    """(cred, (topic, payload)), each; returns their matchtags."""
    data, tags = b"", []
    for (userid, rolemask), (topic, payload) in requests:
        client.matchtag += 1
        tags.append(client.matchtag)
        one = wire.encode(wire.REQUEST, topic, payload, flags=flags, aux2=client.matchtag, userid=userid, rolemask=rolemask)
        data += struct.pack("=I", 0xFFEE0012) + struct.pack(">I", len(one)) + one
    client.sock.sendall(data)
    return tags


def before(client, tag):
    """How many answers come before that one."""
    count = 0
    while (message := client.receive()).aux2 != tag:
        assert not message.aux1, message.text
        count += 1
    assert not message.aux1, message.text
    return count


def refusal(client):
    """The first answer that says to ask again; before it come answers without error."""
    while (message := client.receive()).aux1 != AGAIN:
        assert not message.aux1, message.text
    return message.text


def submit(client, count, userid, urgency=0):
    """Jobs of that user, submitted by him in the role of the owner. Returns their ids."""
    options = types.SimpleNamespace(duration=60, cwd="/", env=["A=b"], simulate=1, output=None, setattr=[], tasks=1, cores=1,
                                    command=["true"])
    header = b"version\0i1\0userid\0i%d\0mechanism\0snone\0" % userid
    body = json.dumps(wire.jobspec(options)).encode()
    signed = base64.b64encode(header).decode() + "." + base64.b64encode(body).decode() + ".none"
    asked = ("job-ingest.submit", {"J": signed, "urgency": urgency, "flags": 0})
    tags = send(client, *[((userid, 1), asked)] * count)
    return [json.loads(client.answer(tag))["id"] for tag in tags]
