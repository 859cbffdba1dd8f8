# An image that runs the demo, and ranks on Kubernetes (examples/cluster/mpijob.yaml).
#
#   docker build -t dist_ms .
#   docker run --rm dist_ms                          # the demo, on two ranks
#   docker run --rm -v "$PWD:/work" dist_ms dist-ms run -n 2 train.py

FROM python:3.11-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
COPY . /source
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /source

FROM python:3.11-slim
# libgomp runs the kernels' threads; mpirun starts ranks on other machines by ssh.
RUN apt-get update \
    && apt-get install -y --no-install-recommends libgomp1 openssh-client openssh-server \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(ls /wheels/*.whl)[mpi,examples,vision]" && rm -r /wheels
# Ranks are no root; sshd runs as their user, on a port of its own. The keys come from outside: a volume at ~/.ssh.
RUN useradd --create-home --uid 1000 mpiuser \
    && mkdir /work && chown mpiuser /work \
    && printf '%s\n' 'Port 2222' 'PidFile /home/mpiuser/sshd.pid' 'HostKey /home/mpiuser/.ssh/id_rsa' 'StrictModes no' \
        'AcceptEnv LANG' 'PasswordAuthentication no' > /etc/ssh/sshd_mpiuser \
    && printf '%s\n' 'Host *' '    Port 2222' '    StrictHostKeyChecking no' '    UserKnownHostsFile /dev/null' \
        '    LogLevel ERROR' > /etc/ssh/ssh_config.d/mpi.conf
COPY --chown=mpiuser examples /home/mpiuser/examples
USER mpiuser
WORKDIR /work
CMD ["dist-ms", "run", "-n", "2", "/home/mpiuser/examples/train_digits.py"]
