"""What both trainings tell transformers."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import Any

from ras_flow.support.extras import require
from ras_flow.training.processes import one_gpu, processes
from ras_flow.training.run import Logger


def training_arguments(
    run: Path,
    optimizer: Any,
    *,
    an_epoch: int,
    every: int,
    watched: bool,
    log: Logger,
    **own: Any,
) -> Any:
    """Return ``transformers.TrainingArguments``, which keep a process to one GPU."""
    transformers = require("transformers", extra="local")
    require("accelerate", extra="local")
    torch = require("torch", extra="local")
    gpu = torch.cuda.is_available()
    arguments = transformers.TrainingArguments(
        output_dir=str(run),
        per_device_train_batch_size=optimizer.batch_size,
        gradient_accumulation_steps=optimizer.accumulation,
        num_train_epochs=optimizer.epochs,
        max_steps=_fewer_steps(optimizer, an_epoch),
        learning_rate=optimizer.learning_rate,
        lr_scheduler_type=optimizer.schedule,
        warmup_steps=optimizer.warmup,
        weight_decay=optimizer.weight_decay,
        max_grad_norm=optimizer.clip,
        # Said plainly, or several processes without a GPU would each train alone.
        use_cpu=not gpu and not torch.backends.mps.is_available(),
        bf16=optimizer.precision == "bf16" or (optimizer.precision == "auto" and gpu),
        dataloader_pin_memory=gpu,
        save_strategy="steps",
        save_steps=every,
        save_total_limit=2,
        eval_strategy="steps" if watched else "no",
        eval_steps=every,
        logging_steps=max(1, every // 10),
        logging_first_step=True,
        seed=optimizer.seed,
        data_seed=optimizer.seed,
        remove_unused_columns=False,
        label_names=["labels"],
        disable_tqdm=True,
        report_to=[],
        **own,
    )
    one_gpu(arguments, log)
    return arguments


def _fewer_steps(optimizer: Any, an_epoch: int) -> int:
    """Return the steps that end before the epochs do, else -1: Trainer would go on past these."""
    a_step = optimizer.batch_size * optimizer.accumulation * processes()
    ends = 0 < optimizer.steps < ceil(optimizer.epochs * ceil(an_epoch / a_step))
    return int(optimizer.steps) if ends else -1
